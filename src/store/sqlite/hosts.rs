//! Hosts: what was learnt of each that is worth keeping between runs.

use std::time::Duration;

use bytes::Bytes;
use rusqlite::{Connection, params};

use super::pages::ensure_host;
use super::{Result, StoreError, count, moment};
use crate::fetch::robots;
use crate::fetch::visit::{HostReport, RobotsFault, RobotsRecord, RobotsStatus, Waiting};
use crate::page::{Host, HostId};
use crate::policy::Yield;
use crate::store::rows::millis;
use crate::store::{KnownHost, version};
use crate::time::Timestamp;

pub(super) fn save(connection: &Connection, report: &HostReport) -> Result<()> {
    let id = ensure_host(connection, &report.host)?;
    connection
        .prepare_cached(
            "UPDATE host SET delay_ms = ?2, not_before = ?3, waiting_for = ?4, failures = ?5, rests = ?6,
                wait_reason = ?7, robots_fault = ?8, robots_fault_status = ?9
             WHERE id = ?1",
        )?
        .execute(params![
            id.0,
            millis(report.delay),
            report.wait.map(|(until, _)| until.millis()),
            report.wait.map(|(_, why)| why.name()),
            report.failures,
            report.rests,
            report.reason,
            report.robots_fault.as_ref().map(|fault| fault.reason.as_str()),
            report.robots_fault.as_ref().and_then(|fault| fault.status),
        ])?;
    if let Some(robots) = &report.robots {
        let packed = version::compress(&robots.body)
            .map_err(|error| StoreError::BadValue(format!("robots.txt does not pack: {error}")))?;
        connection
            .prepare_cached(
                "UPDATE host SET robots_at = ?2, robots_status = ?3, robots_body = ?4 WHERE id = ?1",
            )?
            .execute(params![id.0, robots.at.millis(), robots.status, packed])?;
    }
    Ok(())
}

pub(super) fn sitemaps_read(connection: &Connection, host: &Host, at: Timestamp) -> Result<()> {
    let id = ensure_host(connection, host)?;
    connection
        .prepare_cached("UPDATE host SET sitemaps_at = ?2 WHERE id = ?1")?
        .execute(params![id.0, at.millis()])?;
    Ok(())
}

/// The robots.txt last read of each of these hosts that has one.
pub(super) fn robots_of(connection: &Connection, hosts: &[Host]) -> Result<Vec<(Host, RobotsRecord)>> {
    let mut found = Vec::new();
    for host in hosts {
        let mut statement = connection
            .prepare_cached("SELECT robots_at, robots_status, robots_body FROM host WHERE origin = ?1")?;
        let mut rows = statement.query([host.as_str()])?;
        if let Some(row) = rows.next()?
            && let (Some(at), Some(status), Some(packed)) = (moment(row.get(0)?), row.get(1)?, row.get(2)?)
        {
            let packed: Vec<u8> = packed;
            let body = Bytes::from(version::decompress(&packed, robots::MAX_BYTES + 1)?);
            found.push((host.clone(), RobotsRecord { at, status, body }));
        }
    }
    Ok(found)
}

pub(super) fn all(connection: &Connection) -> Result<Vec<KnownHost>> {
    let mut statement = connection.prepare(
        "SELECT host.id, origin, delay_ms, not_before, waiting_for, failures, robots_at, robots_status, sitemaps_at,
                coalesce(pages.count, 0), rests, coalesce(pages.visited, 0), coalesce(pages.useful, 0),
                wait_reason, robots_fault, robots_fault_status, coalesce(pages.forbidden, 0), coalesce(pages.refused, 0)
         FROM host LEFT JOIN
              (SELECT host_id, sum(pages) AS count, sum(visited) AS visited,
                      sum(CASE state WHEN 'redirected' THEN pages ELSE seen END) AS useful,
                      sum(CASE outcome WHEN 'robots' THEN pages END) AS forbidden,
                      sum(CASE outcome WHEN 'address' THEN pages END) AS refused
               FROM page_count GROUP BY host_id) AS pages
              ON pages.host_id = host.id
         ORDER BY host.id",
    )?;
    let mut rows = statement.query([])?;
    let mut hosts = Vec::new();
    while let Some(row) = rows.next()? {
        let origin: String = row.get(1)?;
        let host =
            Host::parse(&origin).ok_or_else(|| StoreError::BadValue(format!("`{origin}` as a host")))?;
        let waiting: Option<String> = row.get(4)?;
        let wait = moment(row.get(3)?).zip(waiting.as_deref().and_then(Waiting::from_name));
        let answered = moment(row.get(6)?).zip(row.get::<_, Option<u16>>(7)?);
        hosts.push(KnownHost {
            id: HostId(row.get(0)?),
            report: HostReport {
                host,
                delay: Duration::from_millis(count(row.get::<_, Option<i64>>(2)?.unwrap_or(0))),
                wait,
                reason: row.get(13)?,
                failures: row.get(5)?,
                rests: row.get(10)?,
                robots: None,
                robots_fault: match row.get(14)? {
                    Some(reason) => Some(RobotsFault { status: row.get(15)?, reason }),
                    None => None,
                },
            },
            robots: answered.map(|(at, status)| RobotsStatus { at, status }),
            sitemaps_at: moment(row.get(8)?),
            pages: count(row.get(9)?),
            forbidden: count(row.get(16)?),
            refused: count(row.get(17)?),
            yields: Yield { visited: count(row.get(11)?), useful: count(row.get(12)?) },
        });
    }
    Ok(hosts)
}
