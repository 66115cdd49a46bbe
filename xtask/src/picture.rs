//! `cargo xtask picture`: a chart of a run as a picture, or its whole page, as a browser shows them. `cargo xtask pictures`: those of the README and of the guide,
//! from the stored records.

use std::error::Error;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use flate2::read::GzDecoder;
use headless::{Browser, View};
use throng_record::schema;
use throng_report::{Format, Options};

use crate::cargo;

/// Where they go, and what they are made of.
const PICTURES: &str = "docs/pictures";
const RECORDS: &str = "docs/results/records";

/// A picture of the guide: its name, the record, the chart, and which of its views.
type OfGuide = (&'static str, &'static str, &'static str, usize);

const OF_GUIDE: [OfGuide; 12] = [
    ("tour-rate", "tour", "rate-along", 0),
    ("tour-percentiles", "tour", "percentiles", 1),
    ("churn-over-time", "churn", "over-time", 0),
    ("backlog-amplification", "backlog", "amplification", 1),
    ("backlog-in-time", "backlog", "in-time", 0),
    ("c10k-accept", "c10k", "accept", 0),
    ("languages-rate", "languages", "by-target", 1),
    ("many-get", "many", "get", 0),
    ("hold-over-time", "million", "over-time", 0),
    ("hold-owners", "million", "owners", 0),
    ("machines-hold", "machines-hold", "over-time", 0),
    ("services-completion", "services", "completion", 0),
];

/// What is asked of one picture.
#[derive(Debug, Args)]
pub(crate) struct PictureArguments {
    /// A run.json, or run.json.gz, or a page that throng wrote
    run: PathBuf,
    /// Where it goes: .svg or .png for a chart, .png for the page
    output: PathBuf,
    /// The chart, by the name in its address (#chart-NAME); without it the whole page is shown
    #[arg(long)]
    chart: Option<String>,
    /// Which of its views, from 0
    #[arg(long, default_value_t = 0)]
    view: usize,
    /// Of the picture, in pixels
    #[arg(long, default_value_t = WIDTH)]
    width: u32,
    /// As a reader sees it who prefers a dark scheme
    #[arg(long)]
    dark: bool,
}

const WIDTH: u32 = 900;

pub(crate) fn run(arguments: &PictureArguments) -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("throng-picture-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let result = page(&arguments.run, &folder).and_then(|page| taken(arguments, &page));
    fs::remove_dir_all(&folder)?;
    fs::write(&arguments.output, result?)?;
    println!("{}", arguments.output.display());
    Ok(())
}

/// Those of the guide.
pub(crate) fn all() -> Result<(), Box<dyn Error>> {
    let workspace = cargo::workspace();
    fs::create_dir_all(workspace.join(PICTURES))?;
    for (name, record, chart, view) in OF_GUIDE {
        run(&PictureArguments {
            run: workspace.join(RECORDS).join(format!("{record}.json.gz")),
            output: workspace.join(PICTURES).join(format!("{name}.svg")),
            chart: Some(chart.to_owned()),
            view,
            width: WIDTH,
            dark: false,
        })?;
    }
    Ok(())
}

/// The page itself, or one made of a record.
fn page(run: &Path, folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let extension = run.extension().unwrap_or_default();
    if extension == "html" {
        return Ok(run.to_owned());
    }
    let bytes = fs::read(run).map_err(|error| format!("{}: {error}", run.display()))?;
    let mut text = String::new();
    match extension == "gz" {
        true => GzDecoder::new(bytes.as_slice()).read_to_string(&mut text)?,
        false => bytes.as_slice().read_to_string(&mut text)?,
    };
    let record = schema::read(&text)?;
    let page = folder.join("report.html");
    let text = throng_report::render(&record, Format::Html, &Options::default());
    fs::write(&page, text)?;
    Ok(page)
}

fn taken(arguments: &PictureArguments, page: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut browser = Browser::start()?;
    let view = View {
        width: arguments.width,
        height: 900,
        is_dark: arguments.dark,
    };
    browser.open(page, view)?;
    let Some(chart) = &arguments.chart else {
        let number = browser.evaluate(&format!("{PLOTS}.length"))?;
        for index in 0..number.as_u64().unwrap_or_default() {
            come_to(&mut browser, &format!("{PLOTS}[{index}]"))?;
        }
        browser.evaluate("scrollTo(0, 0)")?;
        return Ok(browser.screenshot()?);
    };
    let names = browser.evaluate(&format!("{PLOTS}.map((one) => one.dataset.chart)"))?;
    let names: Vec<String> = serde_json::from_value(names)?;
    let index = names.iter().position(|name| name == chart);
    let index = index.ok_or_else(|| format!("no chart {chart}, but {}", names.join(", ")))?;
    let place = format!("{PLOTS}[{index}]");
    come_to(&mut browser, &place)?;
    let is_svg = arguments.output.extension().is_some_and(|one| one == "svg");
    let format = if is_svg { "svg" } else { "png" };
    let script = IMAGE
        .replace("PLACE", &place)
        .replace("VIEW", &arguments.view.to_string())
        .replace("FORMAT", &format!("{format:?}"))
        .replace("WIDTH", &arguments.width.to_string());
    let url = browser.evaluate(&script)?;
    let url = url.as_str().ok_or("no picture came")?;
    let (kind, data) = url.split_once(',').ok_or("what came is no picture")?;
    if kind.ends_with("base64") {
        return Ok(STANDARD.decode(data)?);
    }
    let text = browser.evaluate(&format!("decodeURIComponent({data:?})"))?;
    Ok(text.as_str().unwrap_or_default().as_bytes().to_vec())
}

/// All places for charts.
const PLOTS: &str = "[...document.querySelectorAll('.plot')]";

/// As wide as is asked for, on the page's ground.
const IMAGE: &str = "(async () => {
    const place = PLACE;
    const select = place.closest('figure').querySelector('select');
    if (select) {
        select.value = VIEW;
        select.dispatchEvent(new Event('change'));
    }
    const layout = { ...place.layout, paper_bgcolor: getComputedStyle(document.body).backgroundColor };
    return Plotly.toImage({ data: place.data, layout }, { format: FORMAT, width: WIDTH, height: layout.height });
})()";

/// A chart is drawn when it is come to.
fn come_to(browser: &mut Browser, place: &str) -> Result<(), Box<dyn Error>> {
    browser.evaluate(&format!("{place}.scrollIntoView()"))?;
    match browser.comes_true(&format!("{place}.data"))? {
        true => Ok(()),
        false => Err("a chart was not drawn".into()),
    }
}
