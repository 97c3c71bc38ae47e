//! Whether a member serves. Its status says so, unless the user may not ask for it.

use std::time::Duration;

use super::{
    fault::Fault,
    proto::{RangeRequest, RangeResponse, StatusResponse, path},
    session::Session,
};

/// The known state of a member that serves.
pub(super) struct Status {
    /// True if the member answers a request for progress only after it has sent all changes.
    pub reports_progress: bool,
    /// etcd's alarm, such as that of a full database.
    pub alarm: Option<String>,
}

impl Session {
    /// Asks the member whether it serves. A member without a leader does not, and neither does a learner, which refuses
    /// nearly all calls.
    ///
    /// etcd 3.5.28 and 3.6.0 give the status only to users with the role `root`, as later versions do. Other users send
    /// `question` instead: a member that serves answers it, or refuses it for lack of permission.
    pub(super) async fn status(&self, question: &RangeRequest, within: Duration) -> Result<Status, Fault> {
        let (token, connection) = (self.token(), &self.connection);
        let status: Result<StatusResponse, Fault> =
            connection.call(path::STATUS, &(), token.header.as_ref(), within).await;
        match status {
            Err(fault) if fault.is_forbidden() => {}
            status => return Status::of(&status?),
        }
        let answer: Result<RangeResponse, Fault> =
            connection.call(path::RANGE, question, token.header.as_ref(), within).await;
        match answer {
            Err(fault) if !fault.is_forbidden() => Err(fault),
            // All versions that refuse the status report progress correctly.
            _ => Ok(Status { reports_progress: true, alarm: None }),
        }
    }
}

impl Status {
    fn of(status: &StatusResponse) -> Result<Self, Fault> {
        if status.leader == 0 {
            return Err(Fault::Unsent("the member has no leader".to_owned()));
        }
        if status.is_learner {
            return Err(Fault::Unsent("the member is a learner; promote it, or leave out its endpoint".to_owned()));
        }
        Ok(Self { reports_progress: reports_progress(&status.version), alarm: alarm(&status.errors) })
    }
}

/// The remedy for an alarm in a member's status.
fn alarm(errors: &[String]) -> Option<String> {
    let error = |part: &str| errors.iter().find(|error| error.contains(part));
    let corrupt = error("CORRUPT").map(|alarm| {
        format!(
            "etcd has found that its members differ, and answers nothing ({alarm}); restore the member that is wrong"
        )
    });
    corrupt.or_else(|| {
        error("NOSPACE").map(|alarm| {
            format!("etcd's database has reached its quota ({alarm}); compact and defragment it, and disarm the alarm")
        })
    })
}

/// True for versions that answer a request for progress only after all changes before. Others may be ahead of the changes
/// (https://github.com/etcd-io/etcd/issues/15220).
fn reports_progress(version: &str) -> bool {
    let mut parts = version.split(['.', '-', '+']).map(|part| part.parse::<u32>().unwrap_or_default());
    let mut part = || parts.next().unwrap_or_default();
    match (part(), part(), part()) {
        (3, 4, patch) => patch >= 25,
        (3, 5, patch) => patch >= 8,
        version => version >= (3, 6, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_of_the_status_is_reported_with_what_to_do() {
        let of = |errors: &[&str]| alarm(&errors.iter().map(|&error| error.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["etcdserver: no leader"]), None);
        assert!(of(&["memberID:1 alarm:NOSPACE "]).is_some_and(|text| text.contains("defragment")));
        let both = of(&["memberID:1 alarm:NOSPACE ", "memberID:2 alarm:CORRUPT "]);
        assert!(both.is_some_and(|text| text.contains("memberID:2 alarm:CORRUPT")));
    }

    #[test]
    fn progress_is_trusted_from_the_versions_that_report_it_correctly() {
        let trusted = ["3.4.25", "3.5.8", "3.5.21", "3.6.0-rc.1", "3.6.0", "4.0.0"];
        assert!(trusted.iter().all(|version| reports_progress(version)));
        let untrusted = ["3.4.23", "3.4.24", "3.5.1", "3.5.7", "3.3.10", "", "x"];
        assert!(untrusted.iter().all(|version| !reports_progress(version)));
    }
}
