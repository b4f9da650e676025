//! `/api/v1/sites`: every site, or one of them in a row or in a whole; `/api/v1/signals`: what they tell of their changes.

use axum::extract::{Path, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::dashboard::Dashboard;
use crate::dashboard::pages::changes::given;
use crate::dashboard::pages::site::viewed;
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::changes::WantedHost;
use crate::look::hosts::must_be_known;
use crate::look::signals::{SiteSignals, signals as of_sites};
use crate::look::site_view::SiteView;
use crate::look::sites::{SiteStatus, SitesCycle, sites as all_sites};

use super::{ApiTrouble, Documented, ListPart, documented, most, part_of};

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SiteListQuery {
    /// Only this host: `example.org`, `example.org:8080`, or `https://example.org`.
    host: Option<String>,
    /// Most items of this part [default: 100].
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// The `next` of the part before.
    #[param(pattern = "^[0-9]{1,9}$")]
    after: Option<String>,
}

/// A part of the list of sites, and the cycle that the figures are of.
#[derive(Serialize, ToSchema)]
pub(crate) struct SitesPart {
    /// The last cycle, ended or not; `null`: there was none yet.
    cycle: Option<SitesCycle>,
    #[serde(flatten)]
    part: ListPart<SiteStatus>,
}

#[utoipa::path(
    get, path = "/api/v1/sites", tag = "sites", summary = "A row for each site: those that wait first, then the largest",
    params(SiteListQuery),
    responses((status = 200, description = "As `freshet status --sites --json` prints it, in parts", body = Documented<SitesPart>), ApiTrouble)
)]
pub(crate) async fn sites(
    State(site): State<Dashboard>,
    Asked(asked): Asked<SiteListQuery>,
) -> Result<Response, Trouble> {
    let (now, asker) = (site.now(), site.clone());
    let host = given(&asked.host).map(wanted).transpose()?;
    let mut all = site.look(move |store| all_sites(store, &asker.settings().pace, now)).await?;
    if let Some(host) = host {
        all.sites.retain(|site| is_site(&host, site));
    }
    let part = part_of(all.sites, asked.after.as_deref(), most(asked.limit)?)?;
    documented(&SitesPart { cycle: all.cycle, part })
}

#[utoipa::path(
    get, path = "/api/v1/sites/{host}", tag = "sites", summary = "One site",
    params(("host" = String, Path, description = "`example.org`, `example.org:8080`, or an origin with its slashes escaped")),
    responses((status = 200, description = "The site in figures", body = Documented<SiteStatus>), ApiTrouble)
)]
pub(crate) async fn site(
    State(site): State<Dashboard>,
    Path(named): Path<String>,
) -> Result<Response, Trouble> {
    let (now, asker) = (site.now(), site.clone());
    let host = wanted(&named)?;
    let found = site.look(move |store| {
        must_be_known(store, &host, &named)?;
        let all = all_sites(store, &asker.settings().pace, now)?;
        Ok(all.sites.into_iter().find(|site| is_site(&host, site)))
    });
    match found.await? {
        Some(found) => documented(&found),
        None => Err(Trouble::NotFound("there is no such site".to_owned())),
    }
}

#[utoipa::path(
    get, path = "/api/v1/sites/{host}/view", tag = "sites",
    summary = "A site in a whole: figures, hosts, sitemaps, latest visits and events, when and how its pages change",
    params(("host" = String, Path, description = "`example.org`, `example.org:8080`, or an origin with its slashes escaped")),
    responses((status = 200, description = "What the page of the site shows; hours are those of the zone of the server", body = Documented<SiteView>), ApiTrouble)
)]
pub(crate) async fn view(
    State(site): State<Dashboard>,
    Path(named): Path<String>,
) -> Result<Response, Trouble> {
    documented(&viewed(&site, named).await?)
}

#[utoipa::path(
    get, path = "/api/v1/signals", tag = "sites", summary = "What sites tell of their changes, and how far that can be trusted",
    params(SiteListQuery),
    responses((status = 200, description = "As `freshet signals --json` prints it, in parts", body = Documented<ListPart<SiteSignals>>), ApiTrouble)
)]
pub(crate) async fn signals(
    State(site): State<Dashboard>,
    Asked(asked): Asked<SiteListQuery>,
) -> Result<Response, Trouble> {
    let host = given(&asked.host).map(wanted).transpose()?;
    let named = given(&asked.host).unwrap_or_default().to_owned();
    let found = site.look(move |store| {
        if let Some(host) = &host {
            must_be_known(store, host, &named)?;
        }
        of_sites(store, host.as_ref())
    });
    documented(&part_of(found.await?, asked.after.as_deref(), most(asked.limit)?)?)
}

/// A host as it is named in an address.
pub(super) fn wanted(named: &str) -> Result<WantedHost, Trouble> {
    WantedHost::parse(named).ok_or_else(|| {
        Trouble::BadQuery(
            "that is no host; write it like `example.org`, `example.org:8080` or `https://example.org`"
                .to_owned(),
        )
    })
}

fn is_site(host: &WantedHost, site: &SiteStatus) -> bool {
    std::iter::once(&site.host).chain(&site.twins).any(|origin| host.has(origin))
}
