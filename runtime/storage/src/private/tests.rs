//! Refusals, and the command that each names as its fix.

use std::{
    os::unix::{self, fs::MetadataExt},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::*;

/// A temporary directory with mode 0755, whatever the umask. Removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kindsmith-private-{}-{number}", std::process::id()));
        fs::create_dir(&path).unwrap();
        chmod(&path, 0o755);
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

/// Runs the command that a refusal names.
fn mend(error: &FileError) {
    let FileError::Untrusted { remedy, .. } = error else { panic!("{error}") };
    let command = remedy.split('`').nth(1).expect("a remedy has a command");
    assert!(Command::new("sh").args(["-c", command]).status().unwrap().success(), "{command}");
}

#[test]
fn a_directory_that_is_made_is_0700_and_one_that_is_there_keeps_its_mode() {
    let scratch = Scratch::new();
    PrivateDir::open(&scratch.0).unwrap();
    assert_eq!(mode(&scratch.0), 0o755);
    let made = PrivateDir::open(&scratch.file("made/here")).unwrap();
    assert_eq!(mode(made.path()), 0o700);
}

#[test]
fn a_directory_with_files_that_are_not_ours_is_refused_and_they_are_named() {
    let scratch = Scratch::new();
    for name in [
        "admin.token",
        "ca.key.new",
        "store.redb.format-1",
        "lost+found",
        "service-account.key",
        "client-ca.key",
        "front-proxy-ca.crt",
    ] {
        fs::write(scratch.file(name), "").unwrap();
    }
    PrivateDir::open(&scratch.0).expect("these are ours");
    for name in ["b.txt", "a.txt", ".bashrc", "c.txt"] {
        fs::write(scratch.file(name), "").unwrap();
    }
    // The mode is wrong as well, but changing it would not help.
    chmod(&scratch.0, 0o777);
    let error = PrivateDir::open(&scratch.0).err().unwrap();
    assert!(matches!(error, FileError::Foreign { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains(": .bashrc, a.txt, b.txt and 1 more;") && text.contains("an empty directory"), "{text}");
    assert_eq!(mode(&scratch.0), 0o777);
    chmod(&scratch.0, 0o755);
    fs::write(scratch.file("FORMAT"), "1").unwrap();
    PrivateDir::open(&scratch.0).expect("beside a store other files are left alone");
}

#[test]
fn a_directory_that_all_users_can_write_is_refused() {
    let scratch = Scratch::new();
    for loose in [0o757, 0o1777] {
        chmod(&scratch.0, loose);
        let error = PrivateDir::open(&scratch.0).err().unwrap();
        let text = error.to_string();
        assert!(text.contains(&format!("chmod o-w {}`, or use a directory inside it", scratch.0.display())), "{text}");
        mend(&error);
        PrivateDir::open(&scratch.0).unwrap();
    }
}

#[test]
fn a_group_may_write_the_directory_if_the_process_is_in_it_and_then_the_files_too() {
    let scratch = Scratch::new();
    let path = &scratch.0;
    fs::write(scratch.file("ca.key"), "secret").unwrap();
    chmod(&scratch.file("ca.key"), 0o660);
    // Kubernetes mounts a volume with an `fsGroup` like this.
    chmod(path, 0o2775);
    let metadata = fs::metadata(path).unwrap();
    let file = fs::metadata(scratch.file("ca.key")).unwrap();
    let member = Identity { user: metadata.uid(), groups: vec![metadata.gid()] };
    let trust = member.trust_directory(path, &metadata).unwrap();
    trust.check_file(path, &file, Access::Secret).unwrap();

    let stranger = Identity { user: metadata.uid(), groups: vec![metadata.gid() + 1] };
    let error = stranger.trust_directory(path, &metadata).unwrap_err().to_string();
    assert!(error.contains("which the server is not in") && error.contains("chmod g-w"), "{error}");
    // A group that may not write the directory may not write its files either.
    chmod(path, 0o755);
    let trust = member.trust_directory(path, &fs::metadata(path).unwrap()).unwrap();
    let error = trust.check_file(path, &file, Access::Secret).unwrap_err().to_string();
    assert!(error.contains("other users can write it") && error.contains("chmod 600"), "{error}");
}

#[test]
fn files_of_another_user_are_refused_and_those_of_root_are_not() {
    let scratch = Scratch::new();
    fs::write(scratch.file("ca.key"), "").unwrap();
    chmod(&scratch.file("ca.key"), 0o600);
    let (directory, file) = (fs::metadata(&scratch.0).unwrap(), fs::metadata(scratch.file("ca.key")).unwrap());
    let (owner, other) = (directory.uid(), directory.uid() + 1);
    let identity = |user| Identity { user, groups: Vec::new() };
    let own = identity(owner).trust_directory(&scratch.0, &directory).unwrap();
    own.check_file(&scratch.file("ca.key"), &file, Access::Secret).unwrap();
    let by_other = identity(other).trust_directory(&scratch.0, &directory);
    if owner == 0 {
        by_other.unwrap().check_file(&scratch.file("ca.key"), &file, Access::Secret).unwrap();
    } else {
        let error = by_other.unwrap_err().to_string();
        assert!(error.contains(&format!("it belongs to user {owner}, and the server runs as user {other}")), "{error}");
    }
    if owner != 0 {
        eprintln!("not run: files of another user, which only root can make");
        return;
    }
    unix::fs::chown(scratch.file("ca.key"), Some(12345), None).unwrap();
    let directory = PrivateDir::open(&scratch.0).unwrap();
    let error = directory.read("ca.key", Access::Secret).unwrap_err();
    assert!(error.to_string().contains("it belongs to user 12345, and the server runs as user 0"), "{error}");
    mend(&error);
    directory.read("ca.key", Access::Secret).unwrap();
    unix::fs::chown(&scratch.0, Some(12345), None).unwrap();
    let error = PrivateDir::open(&scratch.0).err().unwrap();
    mend(&error);
    PrivateDir::open(&scratch.0).unwrap();
}

#[test]
fn loose_modes_of_files_are_refused_by_what_is_in_them() {
    let scratch = Scratch::new();
    let directory = PrivateDir::open(&scratch.0).unwrap();
    let path = scratch.file("it's here");
    for (loose, access, refused) in [
        (0o600, Access::Secret, false),
        (0o400, Access::Secret, false),
        (0o640, Access::Secret, true),
        (0o604, Access::Secret, true),
        (0o666, Access::Secret, true),
        (0o644, Access::Data, false),
        (0o620, Access::Data, true),
        (0o644, Access::Public, false),
        (0o602, Access::Public, true),
    ] {
        fs::write(&path, "text").unwrap();
        chmod(&path, loose);
        match directory.read("it's here", access) {
            Ok(text) => assert!(!refused && text.as_deref() == Some("text"), "{loose:o} {access:?}"),
            Err(error) => {
                assert!(refused, "{loose:o} {access:?}: {error}");
                assert!(
                    directory.write("it's here", access, "new").is_err(),
                    "a secret that others could read is not replaced"
                );
                mend(&error);
                directory.read("it's here", access).unwrap();
            }
        }
        let after = if refused || access == Access::Data { 0o600 } else { loose };
        assert_eq!(mode(&path), after, "{loose:o} {access:?}");
    }
}

#[test]
fn links_are_not_followed_and_only_regular_files_are_read() {
    let scratch = Scratch::new();
    let victim = Scratch::new();
    let target = victim.file("target");
    fs::write(&target, "precious").unwrap();
    let directory = PrivateDir::open(&scratch.0).unwrap();
    unix::fs::symlink(&target, scratch.file("ca.key")).unwrap();
    unix::fs::symlink(victim.file("nothing"), scratch.file("LOCK")).unwrap();
    for name in ["ca.key", "LOCK"] {
        let error = directory.open_file(name, Access::Public, true).unwrap_err();
        assert!(error.to_string().contains("it is a symbolic link"), "{error}");
        assert!(directory.has(name).is_err());
        assert!(directory.write(name, Access::Public, "new").is_err());
        mend(&error);
        assert!(!directory.has(name).unwrap());
    }
    // The leftover of an interrupted write is replaced, not followed.
    unix::fs::symlink(&target, scratch.file("ca.key.new")).unwrap();
    directory.write("ca.key", Access::Secret, "new").unwrap();
    assert_eq!(fs::read_to_string(scratch.file("ca.key")).unwrap(), "new");
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    assert_eq!(fs::read_dir(&victim.0).unwrap().count(), 1);
    assert_eq!(mode(&scratch.file("ca.key")), 0o600);

    assert!(Command::new("mkfifo").arg(scratch.file("admin.token")).status().unwrap().success());
    let error = directory.read("admin.token", Access::Secret).unwrap_err().to_string();
    assert!(error.contains("it is not a file"), "{error}");
}

#[test]
fn a_path_that_a_shell_would_split_is_quoted() {
    assert_eq!(quoted(Path::new("/a/b-c.d")), "/a/b-c.d");
    assert_eq!(quoted(Path::new("/my data/it's")), r"'/my data/it'\''s'");
}
