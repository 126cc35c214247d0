//! Protects a file against crashes and damage: `cargo run --example durable`.
//!
//! *Durable* changes are atomic and survive a crash: afterwards the file has the state before or
//! after a change. A *transaction* combines several changes into one. *Checksums* detect damaged
//! bytes. docs/durability.md describes all three.

use ferroblosc::Error;
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{Fingerprint, SChunk, Storage};

/// Created in the current directory, and removed at the end.
const PATH: &str = "example-durable.b2frame";

/// Returns 1,000 numbers as bytes.
fn entries(first: u64) -> Vec<u8> {
    (first..first + 1000).flat_map(|i| (i * i).to_le_bytes()).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // An interrupted run may have left the file, and `create` never replaces one.
    let _ = std::fs::remove_file(PATH);
    let storage = || Storage::file(PATH).durable().checksums();
    let mut ledger = SChunk::create(storage(), CParams::default(), DParams::default())?;

    // A single change is durable when the call returns.
    ledger.append(&entries(0))?;

    // A transaction is faster than many single changes: only its commit waits for the disk. Other
    // handles see all its changes or none.
    let mut transaction = ledger.transaction()?;
    transaction.append(&entries(1000))?;
    transaction.append(&entries(2000))?;
    transaction.add_vlmetalayer("checked by", b"two persons")?;
    transaction.commit()?;
    println!("after the commit: {} chunks", ledger.nchunks());

    // A transaction that is dropped, for instance by an early return, is rolled back.
    let mut transaction = ledger.transaction()?;
    transaction.append(&entries(3000))?;
    transaction.delete_chunk(0)?;
    assert_eq!(transaction.nchunks(), 3);
    drop(transaction);
    assert!(ledger.nchunks() == 3 && ledger.decompress_to_vec(0)? == entries(0));
    println!("after the rollback: {} chunks", ledger.nchunks());

    // Verification reads everything and compares the checksums.
    let report = ledger.verify()?;
    assert_eq!((report.faults(), report.compared), (0, 3));
    assert_eq!(report.fingerprint, Fingerprint::Intact);

    // Damage the file: change the last byte of chunk 1.
    let chunk = ledger.chunk(1)?.to_vec();
    ledger.close()?;
    let mut file = std::fs::read(PATH)?;
    let start = file.windows(chunk.len()).position(|bytes| bytes == chunk).expect("the chunk");
    file[start + chunk.len() - 1] ^= 1;
    std::fs::write(PATH, file)?;

    // Checksums that exist are always compared. Only the damaged chunk cannot be read.
    let mut ledger = SChunk::open(Storage::file(PATH), DParams::default())?;
    let report = ledger.verify()?;
    let bad: Vec<i64> = report.bad_chunks.into_iter().flat_map(|(numbers, _)| numbers).collect();
    assert_eq!(bad, [1]);
    let error = ledger.decompress_to_vec(1).unwrap_err();
    assert_eq!(error, Error::Data);
    assert!(ledger.decompress_to_vec(2)? == entries(2000));
    println!("damaged chunks: {bad:?}; reading one: {error}");

    drop(ledger);
    std::fs::remove_file(PATH)?;
    Ok(())
}
