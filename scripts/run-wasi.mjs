// Runs a WebAssembly program for WASI in Node, with access to all files.
//
// usage: node run-wasi.mjs PROGRAM ARGUMENT...
//        node run-wasi.mjs --tests PROGRAM ARGUMENT...
//
// With `--tests`, the program is a test program of Rust, and each of its tests runs in a process of
// its own: a panic ends an instance, and Node 20 can crash when others follow it. The last line is
// that of the test program.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";

const tests = process.argv[2] === "--tests";
const [program, ...words] = process.argv.slice(tests ? 3 : 2);

if (!tests) {
    const wasi = new WASI({
        version: "preview1",
        args: [program, ...words],
        env: process.env,
        preopens: { "/": "/" },
        returnOnExit: true,
    });
    const module = await WebAssembly.compile(readFileSync(program));
    const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
    process.exit(wasi.start(instance));
}

/// Runs the program and returns its status and its output.
function run(...words) {
    const options = { encoding: "utf8", maxBuffer: 1 << 26 };
    return spawnSync(process.execPath, ["--no-warnings", process.argv[1], program, ...words], options);
}

const list = run("--list", "--format=terse", ...words).stdout;
const names = list.split("\n").filter(line => line.endsWith(": test")).map(line => line.slice(0, -6));
let passed = 0, ignored = 0;
const failed = [];
for (const name of names) {
    const { status, stdout, stderr } = run("--exact", "--nocapture", name);
    // Node 20 sometimes crashes after the end of a test.
    if (stdout.includes(" 1 passed;")) {
        passed += 1;
    } else if (stdout.includes(" 1 ignored;")) {
        ignored += 1;
    } else {
        failed.push(name);
        console.log(`== ${name}: ${status}\n${stdout}${stderr}`);
    }
}
console.log(failed.map(name => `failed: ${name}`).join("\n"));
const result = failed.length === 0 && passed > 0 ? "ok" : "FAILED";
console.log(`test result: ${result}. ${passed} passed; ${failed.length} failed; ${ignored} ignored`);
process.exit(result === "ok" ? 0 : 1);
