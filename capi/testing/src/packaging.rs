//! An installation, and its use by clients with pkg-config and CMake.

use crate::{build_folder, empty_folder, library_folder, project_root, run, scratch};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// An installed library.
pub struct Package {
    /// The name of the library and of its pkg-config file.
    pub name: &'static str,
    /// The file names of the shared library: for the compiler, for the dynamic linker, and with the
    /// whole version.
    pub files: [&'static str; 3],
    /// The version in the pkg-config file.
    pub version: &'static str,
}

/// Returns the prefix of a tree for one test. Everything was installed once for this program, in an
/// empty directory, and then moved: the installation must be relocatable. The trees share the
/// content of their files, so a test may add and remove files, but not change them.
pub fn installed(name: &str) -> PathBuf {
    static TREE: OnceLock<PathBuf> = OnceLock::new();
    let tree = TREE.get_or_init(|| {
        library_folder();
        let (first, tree) = (empty_folder("first"), scratch("tree"));
        run(Command::new(project_root().join("scripts/install.sh"))
            .arg(build_folder())
            .arg(&first));
        fs::remove_dir_all(&tree).expect("the directory was there");
        fs::rename(&first, &tree).expect("the tree can be moved");
        tree
    });
    let prefix = empty_folder(name).join("prefix");
    run(Command::new("cp").arg("-al").arg(tree).arg(&prefix));
    prefix
}

impl Package {
    /// Whether a program needs the shared library.
    fn is_shared(&self, program: &Path) -> bool {
        let output = run(Command::new("readelf").arg("-d").arg(program));
        let dynamic = String::from_utf8(output.stdout).expect("text");
        dynamic.contains(&format!("Shared library: [{}]", self.files[1]))
    }

    /// Asserts that the library is a file with two links, and that other files are installed.
    /// `others` are relative to the directory of the libraries.
    pub fn assert_files(&self, prefix: &Path, others: &[&str]) {
        let lib = prefix.join("lib");
        for (link, target) in self.files.iter().zip(&self.files[1..]) {
            let found = fs::read_link(lib.join(link)).expect("a link");
            assert_eq!(found, Path::new(target));
        }
        assert!(!lib.join(self.files[2]).is_symlink());
        for file in others {
            let text = fs::read(lib.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            let has_placeholder = text.windows(9).any(|window| window == b"@VERSION@");
            assert!(!has_placeholder, "{file}");
        }
    }

    /// Asserts that pkg-config knows the version and `variables`, which are directories, and that a
    /// program compiled with its flags runs: with the shared library, and with the static one.
    pub fn assert_pkg_config(&self, variables: &[&str], source: &str) {
        let prefix = installed("pkg-config");
        let pkg_config = |arguments: &[&str]| -> Vec<String> {
            let output = run(Command::new("pkg-config")
                .args(arguments)
                .arg(self.name)
                .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")));
            let text = String::from_utf8(output.stdout).expect("text");
            text.split_whitespace().map(str::to_owned).collect()
        };
        assert_eq!(pkg_config(&["--modversion"]), [self.version]);
        for variable in variables {
            let folder = pkg_config(&[&format!("--variable={variable}")]);
            assert!(Path::new(&folder[0]).is_dir(), "{variable}");
        }
        let program = prefix.join("client");
        let compile = |flags: Vec<String>| {
            run(Command::new("cc")
                .arg(project_root().join(source))
                .arg("-o")
                .arg(&program)
                .args(flags));
        };
        compile(pkg_config(&["--cflags", "--libs"]));
        assert!(self.is_shared(&program));
        run(Command::new(&program).env("LD_LIBRARY_PATH", prefix.join("lib")));

        fs::remove_file(prefix.join("lib").join(self.files[0])).expect("the link was there");
        compile(pkg_config(&["--static", "--cflags", "--libs"]));
        assert!(!self.is_shared(&program));
        run(&mut Command::new(&program));
    }

    /// Builds the CMake project in the directory `client` with a target as `library`, and runs it.
    /// `root` is the prefix that CMake searches. Returns whether the program is linked with the
    /// shared library.
    pub fn builds_with_cmake(
        &self,
        client: &str,
        root: &Path,
        library: &str,
        options: &[&str],
    ) -> bool {
        let build = root.join("build").join(library.replace("::", "-"));
        run(Command::new("cmake")
            .arg("-S")
            .arg(project_root().join(client))
            .arg("-B")
            .arg(&build)
            .arg(format!("-DCMAKE_PREFIX_PATH={}", root.display()))
            .arg(format!("-DLIBRARY={library}"))
            .args(options));
        run(Command::new("cmake").arg("--build").arg(&build));
        let program = build.join("client");
        run(&mut Command::new(&program));
        self.is_shared(&program)
    }

    /// Asserts that a CMake project in the directory `client` runs with each target: the one that
    /// is the shared library if there is one, the shared library, and the static library.
    pub fn assert_cmake(&self, client: &str, [either, shared, archive]: [&str; 3]) {
        let prefix = installed("cmake");
        let build = |library: &str| self.builds_with_cmake(client, &prefix, library, &[]);
        assert!(build(either), "{either}");
        assert!(build(shared), "{shared}");
        assert!(!build(archive), "{archive}");
        for name in self.files {
            fs::remove_file(prefix.join("lib").join(name)).expect("the library was there");
        }
        fs::remove_dir_all(prefix.join("build")).expect("the builds were there");
        assert!(!build(either), "{either}");
    }

    /// Asserts that a CMake project finds the package through a link to the library directory, as
    /// `/lib` is on many systems: the headers are not beside the link.
    pub fn assert_cmake_through_a_link(&self, client: &str, [_, shared, archive]: [&str; 3]) {
        let prefix = installed("linked");
        let root = prefix.with_file_name("root");
        fs::create_dir(&root).expect("the directory is new");
        symlink(prefix.join("lib"), root.join("lib")).expect("the link is new");
        assert!(self.builds_with_cmake(client, &root, shared, &[]), "{shared}");
        assert!(!self.builds_with_cmake(client, &root, archive, &[]), "{archive}");
    }
}
