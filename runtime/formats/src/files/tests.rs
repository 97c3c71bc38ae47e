//! Tests of reading and writing where a stranger made the files.
use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    time::Instant,
};

use super::*;

/// A folder for a test, which is removed after it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("kindsmith-files-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    fn pipe(&self, path: &str) -> PathBuf {
        assert!(Command::new("mkfifo").arg(self.at(path)).status().unwrap().success());
        self.at(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn path(text: &str) -> RelativePath {
    RelativePath::new(text).unwrap()
}

#[test]
fn paths_are_made_of_names() {
    for good in ["a", "a/b.json", "library.example.com/book_v1.json", "größe", "..a", "a b"] {
        assert_eq!(path(good).as_ref(), Path::new(good));
    }
    for bad in ["", "/", "/etc/x", "..", "a/../b", "../../../x", "a//b", "a/", "./a", "a\\b", "a\0b", "a\nb", "a/."] {
        let problem = RelativePath::new(bad).unwrap_err();
        assert!(problem.contains("supported: names without slashes"), "{problem}");
    }
}

#[test]
fn files_are_written_below_the_folder_and_replaced_in_their_place() {
    let scratch = Scratch::new();
    let folder = Folder::create(&scratch.at("new/out")).unwrap();
    folder.write(&path("a/b/c.txt"), b"first, and longer").unwrap();
    fs::set_permissions(scratch.at("new/out/a/b/c.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    folder.write(&path("a/b/c.txt"), b"second").unwrap();
    assert_eq!(folder.read(&path("a/b/c.txt"), &Limits::default()).unwrap().unwrap(), b"second");
    assert_eq!(fs::metadata(scratch.at("new/out/a/b/c.txt")).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(!folder.contains(&path("a/x/c.txt")).unwrap());
    assert_eq!(folder.read(&path("a/x"), &Limits::default()).unwrap(), None);
    // The folder that was named may be a link.
    symlink("new/out", scratch.at("link")).unwrap();
    Folder::open(&scratch.at("link")).unwrap().write(&path("d"), b"d").unwrap();
    assert!(scratch.at("new/out/d").is_file());
}

#[test]
fn nothing_is_written_through_a_link() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.at("outside")).unwrap();
    fs::write(scratch.at("outside/file"), "untouched").unwrap();
    let folder = Folder::create(&scratch.at("out")).unwrap();
    symlink("../outside/file", scratch.at("out/link")).unwrap();
    symlink("../outside/new", scratch.at("out/dangling")).unwrap();
    symlink("../outside", scratch.at("out/folder")).unwrap();
    scratch.pipe("out/pipe");
    for (name, expected) in [
        ("link", "link is a symbolic link; supported: a regular file"),
        ("dangling", "dangling is a symbolic link; supported: a regular file"),
        ("folder/new", "folder is a symbolic link; supported: a folder"),
        ("folder/deep/new", "folder is a symbolic link; supported: a folder"),
        ("pipe", "pipe is a named pipe; supported: a regular file"),
    ] {
        let started = Instant::now();
        let found = [folder.write(&path(name), b"x"), folder.contains(&path(name)).map(drop)];
        let read = folder.read(&path(name), &Limits::default()).map(drop);
        for found in found.into_iter().chain([read]) {
            assert_eq!(found.unwrap_err().to_string(), expected, "{name}");
        }
        assert!(started.elapsed().as_secs() < 5, "{name}");
    }
    assert_eq!(fs::read_to_string(scratch.at("outside/file")).unwrap(), "untouched");
    assert_eq!(fs::read_dir(scratch.at("outside")).unwrap().count(), 1);
}

#[test]
fn what_is_read_is_regular_and_small_enough() {
    let scratch = Scratch::new();
    fs::write(scratch.at("small"), "1234").unwrap();
    symlink("small", scratch.at("link")).unwrap();
    symlink("/dev/zero", scratch.at("endless")).unwrap();
    symlink("circle", scratch.at("circle")).unwrap();
    let pipe = scratch.pipe("pipe");
    let limits = Limits { file: 4, sum: 10 };
    assert_eq!(read(&scratch.at("link"), &limits).unwrap(), b"1234");
    assert_eq!(read_text(&scratch.at("small"), &limits).unwrap(), "1234");
    let why = |path: &Path| read(path, &limits).unwrap_err().to_string();
    assert_eq!(why(&scratch.at("endless")), "it is a device; supported: regular files");
    assert_eq!(why(&pipe), "it is a named pipe; supported: regular files");
    assert_eq!(why(&scratch.0), "it is a folder; supported: regular files");
    assert!(why(&scratch.at("circle")).contains("symbolic link"), "{}", why(&scratch.at("circle")));
    let wrong = read(&scratch.at("small"), &Limits { file: 3, ..limits }).unwrap_err().to_string();
    assert_eq!(wrong, "it is larger than 3 bytes, the limit for a file");
    let mut left = limits;
    read_next(&scratch.at("small"), &mut left).unwrap();
    read_next(&scratch.at("small"), &mut left).unwrap();
    let wrong = read_next(&scratch.at("small"), &mut left).unwrap_err().to_string();
    assert_eq!(wrong, "the files are together larger than sixteen times the limit for a file");
}

#[test]
fn folders_are_listed_once_and_links_lead_within_them() {
    let scratch = Scratch::new();
    for folder in ["in/a/b", "in/.hidden", "outside"] {
        fs::create_dir_all(scratch.at(folder)).unwrap();
    }
    for file in ["in/z.yaml", "in/a/y.yaml", "in/a/b/x.yaml", "in/a/text", "in/.hidden/w.yaml", "outside/v.yaml"] {
        fs::write(scratch.at(file), "").unwrap();
    }
    // As a mounted ConfigMap has them.
    symlink(".hidden/w.yaml", scratch.at("in/w.yaml")).unwrap();
    symlink("..", scratch.at("in/a/b/up")).unwrap();
    symlink("a", scratch.at("in/same")).unwrap();
    symlink("../outside", scratch.at("in/out")).unwrap();
    symlink("../outside/v.yaml", scratch.at("in/v.yaml")).unwrap();
    symlink("/dev/zero", scratch.at("in/zero.yaml")).unwrap();
    symlink("nowhere", scratch.at("in/dangling.yaml")).unwrap();
    symlink("nowhere", scratch.at("in/dangling")).unwrap();
    scratch.pipe("in/pipe.yaml");
    scratch.pipe("in/pipe");
    let is_read = |path: &Path| path.extension().is_some_and(|end| end == "yaml");
    let root = scratch.at("in");
    let below = |path: &Path| path.strip_prefix(&root).unwrap().display().to_string();
    let listing = list(&root, true, &is_read);
    let files: Vec<String> = listing.files.iter().map(|path| below(path)).collect();
    assert_eq!(files, ["a/b/x.yaml", "a/y.yaml", "w.yaml", "z.yaml"]);
    let problems: Vec<String> = listing
        .problems
        .iter()
        .map(|(path, why)| format!("{}: {}", below(path), why.split(';').next().unwrap()))
        .collect();
    assert_eq!(
        problems,
        [
            "a/b/up: it leads to a folder around it",
            "dangling.yaml: No such file or directory (os error 2)",
            "out: it is a link that leads out of the folder",
            "pipe.yaml: it is a named pipe",
            "v.yaml: it is a link that leads out of the folder",
            "zero.yaml: it is a link that leads out of the folder",
        ]
    );
    assert_eq!(list(&root, false, &is_read).files.len(), 5, "the hidden one, too");
    assert_eq!(list(&scratch.at("in/pipe"), true, &is_read).files.len(), 1, "what is named is read");
}

#[test]
fn folders_that_link_to_each_other_take_no_time() {
    let scratch = Scratch::new();
    for one in 0..40 {
        fs::create_dir(scratch.at(&format!("{one}"))).unwrap();
        for other in 0..40 {
            symlink(format!("../{other}"), scratch.at(&format!("{one}/{other}"))).unwrap();
        }
    }
    let started = Instant::now();
    let listing = list(&scratch.0, true, &|_| true);
    assert!(listing.files.is_empty() && !listing.problems.is_empty());
    assert!(started.elapsed().as_secs() < 5);
}
