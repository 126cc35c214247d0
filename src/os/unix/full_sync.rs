//! Syncing on macOS, where a flush of the disk's cache is a call of its own (`F_FULLFSYNC`).

use std::io::Result;

/// Returns the result of a sync with a flush of the disk's cache, or that of `plain` on file
/// systems that cannot flush it, such as those of a network.
pub(super) fn or_plain(flushed: Result<()>, plain: impl FnOnce() -> Result<()>) -> Result<()> {
    const UNSUPPORTED: [i32; 4] = [libc::ENOTSUP, libc::EOPNOTSUPP, libc::ENOTTY, libc::EINVAL];
    match flushed {
        Err(error) if error.raw_os_error().is_some_and(|number| UNSUPPORTED.contains(&number)) => {
            plain()
        }
        flushed => flushed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Error;

    #[test]
    fn only_a_flush_that_is_not_supported_is_replaced() {
        let error = |number| Err(Error::from_raw_os_error(number));
        let number = |result: Result<()>| result.unwrap_err().raw_os_error();
        for unsupported in [libc::ENOTSUP, libc::ENOTTY] {
            assert!(or_plain(error(unsupported), || Ok(())).is_ok());
            assert_eq!(number(or_plain(error(unsupported), || error(libc::EIO))), Some(libc::EIO));
        }
        for failed in [libc::EIO, libc::ENOSPC, libc::EDQUOT] {
            assert_eq!(
                number(or_plain(error(failed), || panic!("the bytes are lost"))),
                Some(failed)
            );
        }
        assert!(or_plain(Ok(()), || panic!("synced")).is_ok());
    }
}
