//! Tests of the command `kindsmith user`.

use std::{fs, os::unix::fs::PermissionsExt, process::Stdio};

use super::*;

/// Runs `kindsmith user` in a folder. Returns the exit code, standard output and standard error.
fn user(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(PROGRAM).arg("user").args(arguments).current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn started(folder: &Path) -> ServerProcess {
    let mut command = Command::new(PROGRAM);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir", "data"]).current_dir(folder);
    ServerProcess::spawn(command.stderr(Stdio::piped()))
}

#[test]
fn users_are_added_to_a_running_and_to_a_stopped_server() {
    let folder = Folder::new("users");
    let path = folder.path();
    let server = started(path);
    let (code, told, errors) = user(path, &["add", "ada", "--role", "view", "-n", "default"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(told.contains("kubeconfig: ada.kubeconfig (certificate of ada, until 20"), "{told}");
    assert!(told.contains("export KUBECONFIG=ada.kubeconfig") && told.contains("kubectl auth whoami"), "{told}");
    let file = path.join("ada.kubeconfig");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("namespace: \"default\"") && text.contains(server.url()), "{text}");
    let (code, _, errors) = user(path, &["add", "ci", "--token", "--role", "edit", "-n", "default", "-o", "ci.conf"]);
    assert_eq!(code, Some(0), "{errors}");
    let (well, rest) = server.terminate();
    assert!(well, "{rest}");

    let (code, told, errors) = user(path, &["add", "grace", "--role", "edit", "--server", "https://example.com:8443"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(told.contains("clusterrolebinding/grace:edit created"), "{told}");
    assert!(fs::read_to_string(path.join("grace.kubeconfig")).unwrap().contains("https://example.com:8443"));
    let (_, listed, _) = user(path, &["list"]);
    let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        rows[1..],
        [
            vec!["ada", "User", "view", "default"],
            vec!["ci", "ServiceAccount", "edit", "default"],
            vec!["grace", "User", "edit", "(all)"],
        ]
    );
    let (_, removed, _) = user(path, &["remove", "ci"]);
    assert!(removed.contains("serviceaccount/ci in the namespace default deleted"), "{removed}");
}

#[test]
fn what_is_wrong_with_a_user_is_said() {
    let folder = Folder::new("users");
    let path = folder.path();
    fs::write(path.join("ada.kubeconfig"), "mine").unwrap();
    for (arguments, expected) in [
        (&["add", "ada"][..], "ada.kubeconfig exists, and nothing was done; choose another file with --output"),
        (&["add", "joe"], "there is no data directory ./data; start the server once"),
        (&["add", "joe", "--valid-for", "1w"], "expected a number with s, m, h or d, such as 90d"),
        (&["add", "joe", "--token", "--certificate"], "cannot be used with"),
        (&["add", "joe", "--kubeconfig", "missing.conf"], "the kubeconfig missing.conf cannot be used: No such file"),
        (&["add", "system:joe"], "names that begin with system: belong to the server"),
        (&["list", "--data-dir", "nowhere"], "there is no data directory nowhere"),
    ] {
        let (code, _, errors) = user(path, arguments);
        assert!(code == Some(2) && errors.contains(expected), "{arguments:?}: {errors}");
    }
    assert_eq!(fs::read_to_string(path.join("ada.kubeconfig")).unwrap(), "mine");
    assert_eq!(fs::read_dir(path).unwrap().count(), 1, "nothing is left behind");
}
