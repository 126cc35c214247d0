import assert from "node:assert/strict";
import test from "node:test";

import { fixture, serve } from "./helpers.js";
import { smoke } from "./smoke.js";

test("the main functions work in Node", async () => {
    const server = await serve((path) => fixture(path.slice(1)));
    try {
        const load = async (name) => fixture(name);
        const { passed, failed } = await smoke({ load, url: (name) => `${server.url}/${name}` });
        assert.deepEqual(failed, []);
        assert.ok(passed.length > 100, `${passed.length} checks`);
    } finally {
        await server.close();
    }
});
