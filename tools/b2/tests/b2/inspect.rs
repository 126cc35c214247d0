//! `info`, `ls`, `cat`, `head` and `verify` on files of other programs.

use crate::common::{TestDir, ints};
use ferroblosc_tools_testing::{fixtures, npy_header};

#[test]
fn info_describes_a_container_with_an_array() {
    let folder = TestDir::new();
    let name = folder.fixture("bloscpack/np_struct.blp");
    assert_eq!(
        folder.out(&format!("info {name}")),
        "\
np_struct.blp
  format       Bloscpack container
  type         [('a', '|S1'), ('b', '<f8')]
  shape        (50,)
  data         450 B
  stored       1.1 KiB (1114 B), ratio 0.40
  chunks       1 of 450 B
  codec        blosclz
  filters      shuffle
  checksums    adler32
  metadata     {\"dtype\": \"[('a', '|S1'), ('b', '<f8')]\", \"shape\": [50], \"order\": \"C\", \"container\": \"numpy\"}
"
    );
}

#[test]
fn tables_are_listed_with_their_columns() {
    let folder = TestDir::new();
    folder.fixture("bcolz/ct_mixed");
    folder.write("notes.txt", b"nothing of ours");
    assert_eq!(
        folder.out("ls"),
        "\
format      data   stored  ratio  content               name
ctable  58.6 KiB  3.4 KiB  17.24  3000 rows, 5 columns  ct_mixed
carray  11.7 KiB    636 B  18.87  <i4 (3000,)           ct_mixed:id
carray  23.4 KiB  1.5 KiB  15.94  <f8 (3000,)           ct_mixed:val
carray   8.8 KiB    331 B  27.19  |S3 (3000,)           ct_mixed:tag
carray  11.7 KiB    659 B  18.21  <i2 (3000, 2)         ct_mixed:pair
carray   2.9 KiB    261 B  11.49  |b1 (3000,)           ct_mixed:even
"
    );
}

/// All rows are as wide as the widest cell of a column.
#[test]
fn types_of_many_fields_are_truncated_in_lists() {
    let folder = TestDir::new();
    let fields: Vec<String> = (0..200).map(|number| format!("('f{number}', '<f8')")).collect();
    let dtype = format!("[{}]", fields.join(", "));
    let npy = npy_header(&dtype, "(1,)", false);
    folder.write("wide.npy", &[&npy[..], &[0; 1600]].concat());
    ints(&folder, "a.npy", &[3], 0);
    folder.out("put s.b2z /wide wide.npy");
    for list in [folder.out("ls"), folder.out("ls s.b2z")] {
        assert!(list.lines().all(|line| line.len() < 150), "{list}");
        assert!(list.contains("('f1', '<f8')") && list.contains("… (1,)"), "{list}");
    }
    assert!(folder.out("ls --json").contains("'f199'"));
    assert!(folder.out("info wide.npy").contains("'f199'"));
}

#[test]
fn the_first_rows_of_a_table_have_a_heading() {
    let folder = TestDir::new();
    folder.fixture("bcolz/ct_mixed");
    assert_eq!(
        folder.out("head -l 2 ct_mixed"),
        " #  id   val  tag  pair     even
0:   0   0.0  n0   [0, 1]   True
1:   1  0.25  n1   [2, 3]  False
"
    );
    assert_eq!(folder.out("cat ct_mixed --column pair --slice=-1:"), "2999:  5998  5999\n");
}

#[test]
fn data_without_shape_are_shown_as_bytes() {
    let folder = TestDir::new();
    let name = folder.fixture("bloscpack/iota_default.blp");
    assert_eq!(
        folder.out(&format!("cat {name} -s 8:28")),
        "\
00000008  0100 0000 0000 0000 0200 0000 0000 0000  ................
00000018  0300 0000                                ....
"
    );
    assert_eq!(folder.out(&format!("cat {name} -d <u8 -s 3:5")), "3:  3\n4:  4\n");
    let raw = folder.line(&format!("cat {name} --raw"));
    let iota: Vec<u8> = (0..40_000u64).flat_map(u64::to_le_bytes).collect();
    assert!(raw.stdout == iota);
}

#[test]
fn every_fixture_is_detected_and_undamaged() {
    for kind in ["bloscpack", "bcolz"] {
        let folder = fixtures().join(kind);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_listing = path.extension().is_some_and(|end| end == "md" || end == "jsonl");
            if is_listing {
                continue;
            }
            let scratch = TestDir::new();
            let result = scratch.run(&["verify", "--json", path.to_str().unwrap()]);
            let name = path.file_name().unwrap().to_str().unwrap();
            let found: serde_json::Value = serde_json::from_slice(&result.stdout).unwrap();
            let right = found[0]["right"].as_bool().unwrap();
            assert_eq!(result.status, if right { 0 } else { 3 }, "{name}");
            // Git stores no empty directories, so fixtures without rows are incomplete.
            let lost = ["ct_empty", "empty_3d", "empty_f8", "resized_zero"].contains(&name);
            let faults = found[0]["faults"].as_array().unwrap();
            let is_lost = |fault: &serde_json::Value| {
                fault["what"] == "it is missing"
                    && fault["path"].as_str().unwrap().ends_with("/data")
            };
            assert!(right || lost && faults.iter().all(is_lost), "{name}: {found:#}");
        }
    }
}

#[test]
fn unknown_formats_and_damage_are_different_errors() {
    let folder = TestDir::new();
    folder.write("notes.txt", b"nothing of ours, and long enough to be a chunk");
    let result = folder.line("info notes.txt");
    assert_eq!(result.status, 1);
    assert_eq!(
        result.err(),
        "b2: error: notes.txt: the format is unknown\n\
         b2: hint: 'b2 compress' compresses any file\n"
    );
    assert_eq!(folder.line("info").status, 2);
    assert_eq!(folder.line("nonsense").status, 2);
    assert_eq!(folder.line("--help").status, 0);

    let name = folder.fixture("bloscpack/iota_default.blp");
    let mut bytes = folder.read(&name);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    folder.write(&name, &bytes);
    let result = folder.line(&format!("verify {name}"));
    assert_eq!(result.status, 3);
    assert!(
        result.out().starts_with("iota_default.blp: 1 fault (1 chunk, with a checksum)"),
        "{}",
        result.out()
    );
    assert!(result.out().contains("\n  chunk 0 at byte 120: "), "{}", result.out());
}

#[test]
fn the_manual_page_and_the_completions_contain_every_command() {
    let folder = TestDir::new();
    let help = folder.out("--help");
    let page = folder.out("man");
    assert!(page.contains(".TH b2 1"), "{}", &page[..200]);
    for command in [
        "info",
        "ls",
        "cat",
        "head",
        "verify",
        "repair",
        "convert",
        "compress",
        "decompress",
        "bench",
        "stats",
        "diff",
        "meta",
    ] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
        assert!(
            page.contains(&format!(".SH \"SUBCOMMAND: {}\"", command.to_uppercase())),
            "{command}"
        );
        assert!(folder.out(&format!("help {command}")).contains("Usage: b2 "), "{command}");
        for shell in ["bash", "zsh", "fish"] {
            assert!(
                folder.out(&format!("completions {shell}")).contains(command),
                "{shell} {command}"
            );
        }
    }
    assert!(page.contains(".SH \"SUBCOMMAND: META SET\""));
    // Without a terminal there are no colours, not even in the messages of clap.
    assert!(!help.contains('\x1b'));
    let result = folder.line("info --no-such-option");
    assert_eq!(result.status, 2);
    assert!(!result.err().contains('\x1b'), "{}", result.err());
}

#[test]
fn directories_are_listed_recursively_and_as_a_tree() {
    let folder = TestDir::new();
    for name in ["deep/er", "deep/none/at/all"] {
        std::fs::create_dir_all(folder.path(name)).unwrap();
    }
    folder.write("a", b"content");
    folder.succeed("compress a");
    folder.succeed("compress a deep/b.b2frame");
    folder.succeed("compress a deep/er/c.b2frame --directory");
    folder.write("deep/er/text", b"text");
    let store = folder.fixture("stores/t_table.b2z");
    std::fs::rename(folder.path(&store), folder.path("deep/s.b2z")).unwrap();
    // A circle.
    std::os::unix::fs::symlink("..", folder.path("deep/up")).unwrap();
    let names = |line: &str| -> Vec<String> {
        let out = folder.out(line);
        // The last column begins at the same position in all lines.
        let at = out.lines().next().unwrap().find("name").unwrap();
        out.lines().skip(1).map(|line| line.chars().skip(at).collect()).collect()
    };
    assert_eq!(names("ls"), ["a.b2frame"]);
    let all = names("ls -r");
    assert_eq!(all[..2], ["a.b2frame", "deep/b.b2frame"]);
    assert_eq!(all[2..4], ["deep/er/c.b2frame", "deep/s.b2z"]);
    assert!(all[4..].iter().all(|name| name.starts_with("deep/s.b2z:/")), "{all:?}");
    let tree = names("ls --tree");
    assert_eq!(tree[..5], ["a.b2frame", "deep", "  b.b2frame", "  er", "    c.b2frame"]);
    assert_eq!(tree[5], "  s.b2z");
    assert!(tree[6..].iter().all(|name| name.starts_with("    ")), "{tree:?}");
    assert_eq!(tree.len(), all.len() + 2);
    assert_eq!(folder.json("ls -r --json").as_array().unwrap().len(), all.len());
    assert_eq!(folder.line("ls --tree --json").status, 2);
    // Chunks, too.
    assert_eq!(names("ls --tree --chunks")[1..3], ["deep", "  b.b2frame"]);
}

#[test]
fn chunks_are_listed_without_memory_for_each() {
    let folder = TestDir::new();
    let count = 120_000;
    ints(&folder, "a.npy", &[30], 1);
    folder.out("convert a.npy a.b2nd --chunks 10 --blocks 10");
    folder.out("convert a.b2nd few.b2nd");
    folder.out(&format!("resize a.b2nd {}", count * 10));
    // The columns are as wide as their widest cell in both files.
    let listed = folder.limited("-v 100000", &["ls", "--chunks", "few.b2nd", "a.b2nd"]);
    assert_eq!(listed.status, 0, "{}", listed.err());
    let mut lines = listed.out().lines();
    let heading = lines.next().unwrap();
    let at = heading.find("name").unwrap();
    let few: Vec<&str> = lines.by_ref().take(3).collect();
    assert!(few.iter().all(|line| line[at..] == *"few.b2nd"), "{few:?}");
    for (number, line) in lines.clone().enumerate() {
        assert_eq!((&line[..6], &line[at..]), (&*format!("{number:>6}"), "a.b2nd"));
    }
    assert_eq!(lines.count(), count);
    let listed = folder.limited("-v 100000", &["ls", "--chunks", "--json", "a.b2nd"]);
    assert_eq!(listed.status, 0, "{}", listed.err());
    assert!(listed.out().ends_with("\n    ]\n  }\n]\n"));
    assert_eq!(listed.out().matches("\n        \"number\": ").count(), count);
    // The chunks before an unreadable one are listed.
    folder.out("convert few.b2nd dir.b2nd --directory");
    folder.write("dir.b2nd/00000002.chunk", b"damaged");
    let few = folder.line("ls --chunks dir.b2nd");
    let values = folder.line("ls --chunks --json dir.b2nd");
    for listed in [&few, &values] {
        assert_eq!(listed.status, 1);
        let text = "b2: error: dir.b2nd: chunk 2: ";
        assert!(listed.err().starts_with(text), "{}", listed.err());
    }
    assert_eq!(few.out().lines().count(), 3);
    let values: serde_json::Value = serde_json::from_slice(&values.stdout).unwrap();
    assert_eq!(values[0]["chunks"].as_array().unwrap().len(), 2);
}

#[test]
fn chunks_of_stores_are_not_listed() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[4], 0);
    folder.out("put s.b2z /a a.npy");
    for path in ["s.b2z", "s.b2z:/a"] {
        let result = folder.line(&format!("ls --chunks {path}"));
        let text = format!("b2: error: {path}: the chunks of stores are not listed\n");
        assert_eq!(result.status, 1);
        assert!(result.err().starts_with(&text), "{}", result.err());
    }
}

#[test]
fn unreadable_files_of_a_directory_are_listed() {
    let folder = TestDir::new();
    std::fs::create_dir(folder.path("d")).unwrap();
    ints(&folder, "d/a.npy", &[4], 0);
    folder.out("convert d/a.npy d/a.b2nd");
    folder.out("put s.b2z /a d/a.npy");
    folder.out("convert d/a.npy x.npz");
    folder.out("convert d/a.npy z.zarr.zip");
    for name in ["s.b2z", "x.npz", "z.zarr.zip"] {
        let bytes = folder.read(name);
        folder.write(&format!("d/{name}"), &bytes[..bytes.len() - 30]);
    }
    // These files have no format.
    folder.write("d/text.txt", b"text");
    std::os::unix::fs::symlink("missing", folder.path("d/link.npy")).unwrap();
    let unreadable = ["d/s.b2z", "d/x.npz", "d/z.zarr.zip"];
    for options in ["", "-r", "--tree"] {
        let listed = folder.out(&format!("ls d {options}"));
        for name in unreadable {
            let name = if options == "--tree" { &name[2..] } else { name };
            let line = listed.lines().find(|line| line.ends_with(name));
            assert!(line.is_some_and(|line| line.contains("unreadable: ")), "{listed}");
        }
        assert!(!listed.contains("text.txt") && !listed.contains("link.npy"), "{listed}");
    }
    let listed = folder.json("ls d --json");
    let listed = listed.as_array().unwrap().iter();
    let broken = listed.filter(|value| value["error"].is_string());
    let broken: Vec<&str> = broken.filter_map(|value| value["path"].as_str()).collect();
    assert_eq!(broken, unreadable);
    assert!(folder.out("ls d --chunks").contains("d/x.npz"));
}

#[test]
fn the_status_of_damage_is_not_hidden_by_other_errors() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[1000], 0);
    folder.succeed("convert a.npy a.b2nd");
    let mut bytes = folder.read("a.b2nd");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    folder.write("a.b2nd", &bytes);
    for line in ["verify a.b2nd missing", "verify missing a.b2nd a.npy"] {
        let result = folder.line(line);
        assert_eq!(result.status, 3, "{line}: {}", result.err());
    }
    assert_eq!(folder.line("verify a.npy missing").status, 1);
}
