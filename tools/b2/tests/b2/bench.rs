//! `bench`: samples, Pareto fronts, recommendations and plots.

use crate::common::TestDir;
use serde_json::Value;
use std::os::unix::fs::FileTypeExt;

fn numbers(folder: &TestDir, name: &str, count: u32) {
    let bytes: Vec<u8> = (0..count).flat_map(|i| (i.wrapping_mul(i) / 7).to_le_bytes()).collect();
    folder.write(name, &bytes);
}

#[test]
fn the_table_marks_the_pareto_front_and_ends_with_recommendations() {
    let folder = TestDir::new();
    numbers(&folder, "n.bin", 100_000);
    let output = folder.out("bench n.bin -t 4 -n 1 --levels 1,9");
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0], "n.bin: 390.6 KiB, items of 4 B, 1 threads; speeds in MB/s of data");
    assert!(lines[1].ends_with("decompress  Pareto front"), "{output}");
    // The smallest setting is on both fronts, unless others have the same size.
    assert!(lines[2].ends_with("ing"), "{output}");
    assert_eq!(lines.len(), 2 + 30 + 4, "{output}");
    for (line, start) in
        lines[32..].iter().zip(["for reading: ", "for writing: ", "for size: ", "balanced: "])
    {
        let setting = line.strip_prefix(start).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(setting.split(' ').count(), 3, "{line}");
    }
    let fields: Vec<&str> = lines[2].split_whitespace().collect();
    assert_eq!(lines[34], format!("for size: {}", fields[..3].join(" ")));
}

/// Returns whether no other figure is better than this one.
fn is_undominated(figures: &[Value], figure: &Value, speed: &str) -> bool {
    let values =
        |figure: &Value| (figure["cbytes"].as_u64().unwrap(), figure[speed].as_f64().unwrap());
    let (size, fast) = values(figure);
    !figures
        .iter()
        .map(values)
        .any(|(other, faster)| (other < size && faster >= fast) || (other <= size && faster > fast))
}

#[test]
fn the_fronts_in_json_are_those_of_the_figures() {
    let folder = TestDir::new();
    numbers(&folder, "n.bin", 50_000);
    let output = folder.json("bench n.bin -t 4 --levels 1,5 --json");
    let figures = output["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 30);
    for figure in figures {
        let read = is_undominated(figures, figure, "decompress_mb_s");
        let write = is_undominated(figures, figure, "compress_mb_s");
        assert_eq!(figure["read_front"], read, "{figure}");
        assert_eq!(figure["write_front"], write, "{figure}");
    }
    let smallest = &output["recommended"]["size"];
    assert_eq!(smallest["codec"], figures[0]["codec"]);
    assert_eq!(smallest["level"], figures[0]["level"]);
    assert_eq!(output["skipped"], 0);
}

#[test]
fn a_sample_is_distributed_over_the_data() {
    let folder = TestDir::new();
    // Zeros except at the end.
    let mut bytes = vec![0; 4 << 20];
    let mut state = 1_u32;
    for byte in &mut bytes[3 << 20..] {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (state >> 24) as u8;
    }
    folder.write("end.bin", &bytes);
    let line = "bench end.bin -t 1 -l 5 -c lz4 -f none --chunk-size 64K --json --sample";
    let output = folder.json(&format!("{line} 256K"));
    assert_eq!(output["nbytes"], 256 << 10);
    assert_eq!(output["total_nbytes"], 4 << 20);
    // One of four chunks is incompressible.
    let ratio = output["figures"][0]["ratio"].as_f64().unwrap();
    assert!((3.5..4.1).contains(&ratio), "{ratio}");
    // A sample of less than a chunk is the first bytes.
    let output = folder.json(&format!("{line} 1000"));
    assert_eq!(output["nbytes"], 1000);
    folder.out("compress end.bin end.b2frame -t 1 --chunk-size 64K");
    let output = folder.json(&format!("{} 256K", line.replace("end.bin", "end.b2frame")));
    let ratio = output["figures"][0]["ratio"].as_f64().unwrap();
    assert!((3.5..4.1).contains(&ratio), "{ratio}");
}

#[test]
fn settings_after_the_end_of_the_time_are_not_measured() {
    let folder = TestDir::new();
    numbers(&folder, "n.bin", 1000);
    let output = folder.json("bench n.bin -t 4 --seconds 0 --json");
    assert_eq!(output["figures"].as_array().unwrap().len(), 1);
    assert_eq!(output["skipped"], 44);
    let text = folder.out("bench n.bin -t 4 --seconds 0");
    assert!(text.ends_with("44 settings were not measured in 0 s (--seconds)\n"), "{text}");
    for wrong in ["-1", "nan", "x", "1e9"] {
        let result = folder.line(&format!("bench n.bin --seconds={wrong}"));
        assert_eq!(result.status, 2, "{wrong}");
    }
}

#[test]
fn the_plot_has_a_title_units_levels_and_the_front() {
    let folder = TestDir::new();
    numbers(&folder, "a<b.bin", 20_000);
    folder.out("bench a<b.bin -t 4 --levels 1,9 -c lz4,zstd -f shuffle --svg plot.svg -n 1");
    let plot = String::from_utf8(folder.read("plot.svg")).unwrap();
    let title = "a&lt;b.bin: 78.1 KiB, items of 4 B, 1 threads";
    assert!(plot.contains(&format!("<title>{title}</title>")), "{plot}");
    for text in [
        ">compression ratio</text>",
        ">speed of compression, MB/s</text>",
        ">speed of decompression, MB/s</text>",
        ">Pareto front; numbers are levels</text>",
    ] {
        assert!(plot.contains(text), "{text}");
    }
    assert_eq!(plot.matches("class=\"front\"").count(), 2);
    assert_eq!(plot.matches("class=\"level\"").count(), 8);
    assert_eq!(plot.matches("fill=\"#444\">9</text>").count(), 4);
}

#[test]
fn the_plot_replaces_no_file_without_force_and_no_device() {
    let folder = TestDir::new();
    numbers(&folder, "a.bin", 20_000);
    let before = folder.read("a.bin");
    let line = "bench a.bin -t 4 --levels 1 -c lz4 -f shuffle -n 1 --svg";
    for file in ["a.bin", "plot.svg"] {
        folder.write("plot.svg", b"of somebody");
        let result = folder.line(&format!("{line} {file}"));
        assert_eq!(result.status, 1);
        assert!(result.err().starts_with(&format!("b2: error: {file}: already exists")));
    }
    assert_eq!(folder.read("plot.svg"), b"of somebody");
    assert!(folder.read("a.bin") == before);
    folder.out(&format!("{line} plot.svg --force"));
    assert!(folder.read("plot.svg").starts_with(b"<svg"));
    // A device is written to.
    let fifo = folder.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let reader = std::thread::spawn(move || std::fs::read(fifo).unwrap());
    folder.out(&format!("{line} fifo --force"));
    assert!(reader.join().unwrap().starts_with(b"<svg"));
    assert!(folder.path("fifo").metadata().unwrap().file_type().is_fifo());
}

/// Returns codec, level and filters of a frame.
fn settings(folder: &TestDir, name: &str) -> String {
    let info = &folder.json(&format!("info --json {name}"))[0];
    format!("{} {} {}", info["codec"], info["level"], info["filters"])
}

#[test]
fn auto_for_size_is_what_bench_recommends_and_always_the_same() {
    let folder = TestDir::new();
    numbers(&folder, "n.bin", 60_000);
    let recommended = folder.json("bench n.bin -t 4 --json")["recommended"]["size"].clone();
    let filter = recommended["filter"].as_str().unwrap();
    let filters = match filter {
        "none" => "[]".to_owned(),
        filter => format!("[{{\"name\":\"{filter}\",\"meta\":0}}]"),
    };
    let expected = format!("{} {} {filters}", recommended["codec"], recommended["level"]);
    for (name, options) in [("a", ""), ("b", "-n 1"), ("c", "-n 7")] {
        folder.out(&format!("compress n.bin {name}.b2frame -t 4 --auto=size {options}"));
        assert_eq!(settings(&folder, &format!("{name}.b2frame")), expected);
    }
    folder.out("convert n.bin d.b2nd --dtype <i4 --auto=size");
    assert_eq!(settings(&folder, "d.b2nd"), expected);
    assert_eq!(folder.line("decompress d.b2nd -").stdout, folder.read("n.bin"));
    // A pipe has a sample, too.
    let bytes = folder.read("n.bin");
    let piped = folder.line_with("compress - e.b2frame -t 4 --auto=size", &bytes);
    assert_eq!(piped.status, 0, "{}", piped.err());
    assert_eq!(settings(&folder, "e.b2frame"), expected);
}

#[test]
fn auto_accepts_every_goal_and_excludes_the_settings() {
    let folder = TestDir::new();
    numbers(&folder, "n.bin", 20_000);
    folder.write("empty", b"");
    for goal in ["--auto", "--auto=READ", "--auto=write", "--auto=balanced"] {
        for input in ["n.bin", "empty"] {
            folder.out(&format!("compress {input} out.b2frame {goal} --force"));
            assert!(folder.line("decompress out.b2frame -").stdout == folder.read(input));
        }
        folder.out(&format!("convert n.bin out.b2nd --dtype <i4 {goal} --force"));
        assert!(folder.line("decompress out.b2nd -").stdout == folder.read("n.bin"), "{goal}");
    }
    for line in [
        "compress n.bin x --auto --codec lz4",
        "compress n.bin x --auto --level 1",
        "convert n.bin x.b2nd --auto --filters none",
        "compress n.bin x --auto=fast",
    ] {
        let result = folder.line(line);
        assert_eq!(result.status, 2, "{line}: {}", result.err());
    }
    assert!(!folder.exists("x"));
}

#[test]
fn every_filter_can_be_measured_and_chosen_for() {
    let folder = TestDir::new();
    numbers(&folder, "n.bin", 20_000);
    for filters in ["shuffle", "bitshuffle", "delta", "bytedelta", "shuffle,bytedelta"] {
        let value = folder.json(&format!("bench n.bin --levels 1 --filters {filters} --json"));
        let figures = value["figures"].as_array().unwrap().iter();
        let names: Vec<&Value> = figures.map(|figure| &figure["filter"]).collect();
        assert!(filters.split(',').all(|filter| names.contains(&&filter.into())), "{names:?}");
        folder.out(&format!("compress n.bin n.b2frame --filters {filters} --force"));
        assert!(folder.line("decompress n.b2frame -").stdout == folder.read("n.bin"), "{filters}");
        // As with `convert`, the frame leaves the parameters to the item size.
        folder.out(&format!("convert n.bin n.b2nd --dtype <i4 --filters {filters} --force"));
        let recorded =
            |name: &str| folder.json(&format!("info --json {name}"))[0]["filters"].clone();
        assert_eq!(recorded("n.b2frame"), recorded("n.b2nd"));
        assert_eq!(recorded("n.b2frame")[0]["meta"], 0);
    }
}
