//! Judges availability: servers answer within five seconds once they run and a quorum of etcd answers.
use crate::{
    history::{Time, seconds},
    record::Answered,
};

/// How long requests may fail.
pub(crate) const ALLOWED: Time = 5_000_000_000;

/// A time in which nothing was injected or healed.
#[derive(Clone, Debug)]
pub(crate) struct Phase {
    pub(crate) from: Time,
    /// What began it.
    pub(crate) cause: String,
    /// Which servers run and reach etcd.
    pub(crate) healthy: Vec<bool>,
    /// Since when a quorum answers; `None` if it did not.
    pub(crate) quorum: Option<Time>,
}

/// What the answers of a round show.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// The longest time after a quorum stood in which a healthy server still failed.
    pub(crate) longest: Time,
    /// The number of failures, including expected ones.
    pub(crate) failures: usize,
    /// Failures that came too late.
    pub(crate) late: Vec<String>,
}

/// Compares failures with the phases, of which the first begins before all answers.
pub(crate) fn judge(phases: &[Phase], answers: &[Answered]) -> Verdict {
    let mut verdict = Verdict::default();
    for answer in answers {
        let Some(failure) = &answer.failure else { continue };
        verdict.failures += 1;
        let index = phases.partition_point(|phase| phase.from <= answer.end);
        let Some(phase) = index.checked_sub(1).map(|last| &phases[last]) else { continue };
        let Some(since) = phase.quorum.filter(|_| phase.healthy[answer.server]) else { continue };
        let window = answer.end.saturating_sub(since);
        verdict.longest = verdict.longest.max(window);
        if window > ALLOWED {
            let (server, after, cause) = (answer.server, seconds(window), &phase.cause);
            verdict.late.push(format!("server {server} failed {after} s after a quorum stood ({cause}): {failure}"));
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Time = 1_000_000_000;

    fn failed(server: usize, at: Time) -> Answered {
        Answered { server, end: at * SECOND, failure: Some("503".into()) }
    }

    fn phase(from: Time, healthy: [bool; 2], quorum: Option<Time>) -> Phase {
        let quorum = quorum.map(|quorum| quorum * SECOND);
        Phase { from: from * SECOND, cause: "test".into(), healthy: healthy.into(), quorum }
    }

    #[test]
    fn failures_count_from_the_quorum_and_only_of_healthy_servers() {
        let phases = [
            phase(0, [true, true], Some(0)),
            phase(10, [true, true], None),
            phase(20, [true, false], Some(22)),
            phase(40, [true, true], Some(40)),
        ];
        let verdict = |answers: &[Answered]| judge(&phases, answers);
        assert!(verdict(&[failed(0, 15), failed(0, 27), failed(1, 35), failed(0, 45)]).late.is_empty());
        assert_eq!(verdict(&[failed(0, 15), failed(0, 26)]).longest, 4 * SECOND);
        assert_eq!(verdict(&[failed(0, 28)]).late.len(), 1);
        assert_eq!(verdict(&[failed(1, 46), failed(0, 6)]).late.len(), 2);
    }
}
