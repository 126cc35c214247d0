//! Facts about the machine, for the results as JSON.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;

/// The instruction sets that select our code, and that explain differences between machines.
const FLAGS: [&str; 9] = [
    "avx2",
    "bmi2",
    "avx512f",
    "avx512bw",
    "avx512_vbmi",
    "avx512_vbmi2",
    "gfni",
    "asimd",
    "hypervisor",
];

/// Returns the CPU, its caches and instruction sets, the number of processors, the system and its
/// load. Facts that the system does not state are missing.
pub fn facts() -> Value {
    let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut facts = Map::new();
    for (key, name) in [("model name", "cpu"), ("cpu family", "cpu_family"), ("model", "cpu_model")]
    {
        if let Some(text) = field(&cpu_info, key) {
            facts.insert(name.to_owned(), json!(text));
        }
    }
    let flags =
        field(&cpu_info, "flags").or_else(|| field(&cpu_info, "Features")).unwrap_or_default();
    let flags: BTreeSet<&str> = flags.split_whitespace().collect();
    let known: Vec<&str> = FLAGS.into_iter().filter(|flag| flags.contains(flag)).collect();
    facts.insert("flags".to_owned(), json!(known));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    facts.insert("processors".to_owned(), json!(processors));
    facts.insert("caches".to_owned(), json!(caches()));
    for (file, name) in [("/proc/sys/kernel/osrelease", "system"), ("/proc/loadavg", "load")] {
        if let Ok(text) = fs::read_to_string(file) {
            facts.insert(name.to_owned(), json!(text.trim()));
        }
    }
    facts.insert("architecture".to_owned(), json!(std::env::consts::ARCH));
    Value::Object(facts)
}

/// Returns the value of the first line `key : value`.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
}

/// Returns the level and size of each data cache of the first processor, such as `2: 1024K`.
fn caches() -> Vec<String> {
    let read = |index: usize, file: &str| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{file}");
        fs::read_to_string(path).map(|text| text.trim().to_owned()).ok()
    };
    let describe = |index| {
        let kind = read(index, "type")?;
        Some((kind, read(index, "level")?, read(index, "size")?))
    };
    let all = (0..).map_while(describe).filter(|(kind, ..)| kind != "Instruction");
    all.map(|(_, level, size)| format!("{level}: {size}")).collect()
}
