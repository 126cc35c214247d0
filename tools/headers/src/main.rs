//! Writes the C headers under `include/`. Run it after changes of the C interfaces.

#![forbid(unsafe_code)]

use ferroblosc_headers::{HEADERS, generate, project_root};

fn main() -> std::io::Result<()> {
    let root = project_root();
    for header in HEADERS {
        let path = root.join("include").join(header.path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, generate(&root, header))?;
    }
    Ok(())
}
