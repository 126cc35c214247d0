// Runs the smoke test in headless Chromium.
//
// usage: node browser.js CHROMIUM

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

import { fixtures, respond } from "./helpers.js";

const TIMEOUT = 120_000;
const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Returns the bytes of a file of the package or of a fixture. */
function find(path) {
    const file = path.startsWith("/fixtures/")
        ? join(fixtures, path.slice(10))
        : join(root, normalize(path));
    return existsSync(file) && statSync(file).isFile()
        ? new Uint8Array(readFileSync(file))
        : undefined;
}

let finish;
const finished = new Promise((resolve) => {
    finish = resolve;
});
const server = createServer((request, response) => {
    if (request.url !== "/finished") {
        respond(request, response, find);
        return;
    }
    let text = "";
    request.on("data", (data) => {
        text += data;
    });
    request.on("end", () => {
        response.end();
        finish(text);
    });
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const page = `http://127.0.0.1:${server.address().port}/test/browser.html`;
const profile = mkdtempSync(join(tmpdir(), "ferroblosc-chromium-"));
const browser = spawn(
    process.argv[2] ?? "chromium",
    [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        `--user-data-dir=${profile}`,
        "--remote-debugging-port=0",
        page,
    ],
    { stdio: ["ignore", "ignore", "pipe"], detached: true },
);
let messages = "";
browser.stderr.on("data", (data) => {
    messages += data;
});
browser.on("error", (error) => finish(`done: 0 passed, 1 failed\n${error}`));
const timer = setTimeout(() => finish(`no result after ${TIMEOUT / 1000} s\n${messages}`), TIMEOUT);
const text = await finished;
clearTimeout(timer);
try {
    // The browser and the processes that it started are one group.
    process.kill(-browser.pid, "SIGKILL");
} catch {
    // It has ended.
}
server.close();
server.closeAllConnections();
rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
console.log(`Chromium: ${text.trim()}`);
process.exitCode = /^done: [1-9]\d* passed, 0 failed/.test(text) ? 0 : 1;
