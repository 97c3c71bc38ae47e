//! The files of a folder and of the folders in it. Links are followed only within the folder, and each folder is listed once, so that
//! links to a folder around them do not matter.
use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::fs::FileType;

use super::folder::FileTypeName;

/// How many problems are reported.
const MOST_PROBLEMS: usize = 1_000;

/// The files in a folder.
#[derive(Debug, Default)]
pub struct Listing {
    /// The files, in the order of their names.
    pub files: Vec<PathBuf>,
    /// What is not read, each with the reason.
    pub problems: Vec<(PathBuf, String)>,
}

/// Lists the files that a path names: itself, or those in the folder that it is, as far as they are `read`. Hidden ones of a folder
/// are left out where `hides` says so.
pub fn list(named: &Path, hides: bool, is_read: &dyn Fn(&Path) -> bool) -> Listing {
    let mut listing = Listing::default();
    if !named.is_dir() {
        listing.files.push(named.to_owned());
        return listing;
    }
    match fs::canonicalize(named) {
        Ok(root) => {
            let mut search = Search { root, hides, is_read, seen: BTreeSet::new(), around: Vec::new(), listing };
            search.folder(named);
            search.listing
        }
        Err(error) => {
            listing.problems.push((named.to_owned(), error.to_string()));
            listing
        }
    }
}

struct Search<'r> {
    root: PathBuf,
    hides: bool,
    is_read: &'r dyn Fn(&Path) -> bool,
    /// The folders that were listed, by device and inode.
    seen: BTreeSet<(u64, u64)>,
    /// Those around the one that is listed.
    around: Vec<(u64, u64)>,
    listing: Listing,
}

impl Search<'_> {
    fn folder(&mut self, path: &Path) {
        if let Err(error) = self.try_folder(path) {
            self.problem(path, error.to_string());
        }
    }

    fn try_folder(&mut self, path: &Path) -> io::Result<()> {
        let found = fs::metadata(path)?;
        let key = (found.dev(), found.ino());
        if self.around.contains(&key) {
            self.problem(path, "it leads to a folder around it; supported: folders that end".to_owned());
            return Ok(());
        }
        if !self.seen.insert(key) {
            return Ok(());
        }
        let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        self.around.push(key);
        for entry in entries {
            let is_hidden = entry.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            if !(self.hides && is_hidden) {
                self.entry(&entry);
            }
        }
        self.around.pop();
        Ok(())
    }

    fn entry(&mut self, path: &Path) {
        let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        let found = match fs::metadata(path) {
            Ok(found) => found,
            Err(_) if !(self.is_read)(path) => return,
            Err(error) => return self.problem(path, error.to_string()),
        };
        let is_read = (self.is_read)(path);
        if !found.is_dir() && !is_read {
            return;
        }
        if is_link && !fs::canonicalize(path).is_ok_and(|target| target.starts_with(&self.root)) {
            return self
                .problem(path, "it is a link that leads out of the folder; supported: links within it".to_owned());
        }
        match FileType::from_raw_mode(found.mode()) {
            FileType::Directory => self.folder(path),
            FileType::RegularFile => self.listing.files.push(path.to_owned()),
            other => self.problem(path, format!("it is {}; supported: regular files", FileTypeName(other))),
        }
    }

    fn problem(&mut self, path: &Path, problem: String) {
        if self.listing.problems.len() < MOST_PROBLEMS {
            self.listing.problems.push((path.to_owned(), problem));
        }
    }
}
