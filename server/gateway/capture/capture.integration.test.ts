import { mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { askAs, capturedLines, keyed, keyedGateway, keys, putCapture, readCapture, settledCapture } from "../testing/testCapture";
import { startTestGateway, type TestGateway, temporaryDirectory, until } from "../testing/testGateway";
import { control } from "../testing/testScoredCascade";

const signature = { by: "ann", reason: "enough" };
const dayOf = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);

describe("a capture", () => {
  it("keeps nothing of anybody before it begins, nothing of keys that are not named, and no answer", async () => {
    const { gateway } = await keyedGateway();
    expect(await readCapture(gateway)).toMatchObject({ running: null, keyNames: ["ann", "bob"], files: { prompts: 0, bytes: 0 } });
    await askAs(gateway, "ann", "before");
    await putCapture(gateway);
    await askAs(gateway, "bob", "bob's");
    await askAs(gateway, "ann", "ann's");
    await settledCapture(gateway, 1);
    const lines = await capturedLines(gateway);
    expect(lines).toMatchObject([
      { category: "ann", messages: [{ role: "user", content: "ann's" }], metadata: { key: "ann", objective: null } },
    ]);
    const [decision] = (await gateway.decisions()).slice(-1);
    expect(lines[0]?.id).toBe(decision?.id);
    expect(Math.abs(Number(lines[0]?.atMs) - Date.now())).toBeLessThan(60_000);
    expect(JSON.stringify(lines)).not.toMatch(/hello|before|bob/);
  });

  it("keeps what decides over the answer as it came, and neither who the user is nor how it is delivered", async () => {
    const { gateway } = await keyedGateway();
    await putCapture(gateway, { keys: ["bob"] });
    const call = { id: "c9", type: "function", function: { name: "find", arguments: '{"q":"tea"}' } };
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Find tea" }] },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c9", content: "green" },
    ];
    const tools = [{ type: "function", function: { name: "find", parameters: { type: "object" } } }];
    await askAs(gateway, "bob", {
      messages,
      tools,
      temperature: 0.2,
      max_tokens: 9,
      user: "u-1",
      metadata: { a: "b" },
      stream: true,
      stream_options: {},
    });
    await settledCapture(gateway, 1);
    const [line] = await capturedLines(gateway);
    const { id: _, atMs: __, ...rest } = line ?? {};
    expect(rest).toEqual({
      category: "batch",
      // The user's id is u-1: a pseudonym stands for it.
      metadata: { key: "bob", objective: "batch", inputTokens: expect.any(Number), user: expect.stringMatching(/^[0-9a-f]{32}$/) },
      messages: [
        messages[0],
        messages[1],
        { ...messages[2], tool_calls: [{ ...call, id: "call_1" }] },
        { ...messages[3], tool_call_id: "call_1" },
      ],
      tools,
      temperature: 0.2,
      max_tokens: 9,
    });
  });

  it("redacts before anything is written, counts it, and drops what holds more than text or failed", async () => {
    const { gateway } = await keyedGateway();
    await putCapture(gateway, {
      redactions: { builtIn: ["email"], own: [{ name: "order", pattern: "order \\d+", replacement: "an order" }] },
    });
    await askAs(gateway, "ann", "I am ann@corp.example about Order 77 from 203.0.113.7");
    const image = [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }];
    await askAs(gateway, "ann", { messages: [{ role: "user", content: image }] });
    await askAs(gateway, "ann", "x".repeat(1_100_000));
    expect(await askAs(gateway, "ann", { messages: [] })).toBe(400);
    const { counts, files } = await settledCapture(gateway, 3);
    expect(counts).toMatchObject({ kept: 1, redacted: { email: 1, order: 1 }, dropped: { "not-text": 1, "too-long": 1, failed: 0 } });
    expect(files).toMatchObject({ prompts: 1, oldestDay: dayOf(0), retentionDays: 30 });
    const [name] = await readdir(join(gateway.stateDirectory, "captured"));
    const path = join(gateway.stateDirectory, "captured", name ?? "");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(gateway.stateDirectory, "captured"))).mode & 0o777).toBe(0o700);
    expect(await readFile(path, "utf8")).toContain("I am [email] about an order from 203.0.113.7");
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    expect(metrics).toContain('weir_gateway_captured_prompts_total{outcome="kept"} 1');
  });

  it("keeps about its share", async () => {
    const { gateway } = await keyedGateway();
    await putCapture(gateway, { share: 0.5 });
    for (let request = 0; request < 80; request += 1) await askAs(gateway, "ann", `q${request}`);
    await until(async () => (await readCapture(gateway)).files.prompts > 15);
    const { prompts } = (await readCapture(gateway)).files;
    expect(prompts).toBeLessThan(65);
  });

  it("is told in pages that begin where the last ended", async () => {
    const { gateway } = await keyedGateway();
    await putCapture(gateway);
    const long = "y".repeat(300_000);
    for (let request = 0; request < 8; request += 1) await askAs(gateway, "ann", `${request} ${long}`);
    await settledCapture(gateway, 8);
    const { document } = await control(gateway, "GET", "/captures");
    expect(document).toMatchObject({ lines: { length: 3 }, next: expect.stringMatching(/^\d{4}-\d\d-\d\d\.30:\d+$/) });
    const texts = (await capturedLines(gateway)).map(({ messages }) => (messages as { content: string }[])[0]?.content[0]);
    expect(texts).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
    expect((await control(gateway, "GET", "/captures?after=x")).status).toBe(400);
  });
});

describe("the end of a capture", () => {
  it("leaves what is kept until it is erased, and is told of", async () => {
    const { gateway } = await keyedGateway();
    expect((await control(gateway, "DELETE", "/capture", signature)).status).toBe(404);
    expect((await control(gateway, "DELETE", "/capture?erase=1", signature)).status).toBe(404);
    await putCapture(gateway);
    await askAs(gateway, "ann", "kept");
    await settledCapture(gateway, 1);
    const ended = await control(gateway, "DELETE", "/capture", signature);
    expect(ended).toMatchObject({ status: 200, document: { running: null, files: { prompts: 1 } } });
    await askAs(gateway, "ann", "after the end");
    expect(await capturedLines(gateway)).toHaveLength(1);
    const erased = await control(gateway, "DELETE", "/capture?erase=1", signature);
    expect(erased).toMatchObject({ status: 200, document: { running: null, files: { prompts: 0, bytes: 0, oldestDay: null } } });
    expect(await readdir(gateway.stateDirectory)).not.toContain("captured");
    const { document } = await control(gateway, "GET", "/audit");
    const lines = (document as { lines: { action: string; detail: string }[] }).lines.slice(-3);
    expect(lines.map(({ action }) => action)).toEqual(["capture started", "capture ended", "capture erased"]);
    expect(lines[0]?.detail).toMatch(/^100 % of chat requests of ann are kept for 30 days, without email, phone/);
    expect(lines[2]?.detail).toBe("1 captured prompts were deleted: enough");
  });

  it("comes for a key that leaves the settings, for all with the last, and for everybody when keys are set", async () => {
    const { gateway, config } = await keyedGateway();
    await putCapture(gateway, { keys: ["ann", "bob"] });
    await gateway.put({ ...config, settings: { ...keyed, keys: keys.slice(0, 1) } });
    expect((await readCapture(gateway)).running?.keys).toEqual(["ann"]);
    await gateway.put({ ...config, settings: keyed });
    await askAs(gateway, "bob", "no more of bob");
    await askAs(gateway, "ann", "more of ann");
    await settledCapture(gateway, 1);
    expect(await capturedLines(gateway)).toMatchObject([{ category: "ann" }]);
    await gateway.put({ ...config, settings: {} });
    expect((await readCapture(gateway)).running).toBeNull();
    await putCapture(gateway, { keys: ["*"] });
    await askAs(gateway, null, "of anybody");
    await settledCapture(gateway, 1);
    await gateway.put({ ...config, settings: keyed });
    expect(await readCapture(gateway)).toMatchObject({ running: null, files: { prompts: 2 } });
    const told =
      "The capture ended: there are keys now; 2 prompts stay until their retention time ends, at most 30 days, or until they are erased.";
    await until(async () => JSON.stringify((await control(gateway, "GET", "/audit")).document).includes(told));
  });

  it("is none for a restart, a panic or a new plan", async () => {
    const { gateway, config } = await keyedGateway();
    await putCapture(gateway);
    await askAs(gateway, "ann", "first");
    await settledCapture(gateway, 1);
    await gateway.close();
    const path = join(gateway.stateDirectory, "captured", `${dayOf(0)}.30.jsonl`);
    await writeFile(path, '{"half', { flag: "a" });
    const again = await startTestGateway({}, { stateDirectory: gateway.stateDirectory });
    expect(await readCapture(again)).toMatchObject({ running: { keys: ["ann"], by: "ann" }, counts: { kept: 0 }, files: { prompts: 1 } });
    await control(again, "PUT", "/panic", { model: "large", ...signature });
    await again.put({ ...config, planId: "plan-b" });
    await askAs(again, "ann", "second");
    await settledCapture(again, 1);
    expect(await capturedLines(again)).toMatchObject([{ messages: [{ content: "first" }] }, { messages: [{ content: "second" }] }]);
  });
});

describe("the deletion of what is captured of one key or user", () => {
  const erase = (gateway: TestGateway, of: object) => control(gateway, "DELETE", "/captures", { ...signature, reason: "asked for", of });
  const lastAudit = async (gateway: TestGateway) =>
    ((await control(gateway, "GET", "/audit")).document as { lines: { action: string; detail: string }[] }).lines.at(-1);

  it("deletes every prompt of theirs from every day's file, and nothing else, and is audited with the count and without their id", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway } = await keyedGateway(keyed, { stateDirectory });
    const ask = (key: string, user: string | undefined, content: string) =>
      askAs(gateway, key, { messages: [{ role: "user", content }], ...(user === undefined ? {} : { user }) });
    for (const retentionDays of [1, 30]) {
      await putCapture(gateway, { keys: ["ann", "bob"], retentionDays });
      await ask("ann", "carol@corp.example", "SECRET of carol");
      await ask("bob", "carol@corp.example", "SECRET of carol by bob");
      await ask("bob", "dave", '"},"metadata":{"key":"ann","user":"x"}');
      await ask("bob", undefined, "of nobody");
      await settledCapture(gateway, 4);
    }
    const texts = async () => JSON.stringify(await capturedLines(gateway));
    const onDisk = async () => {
      const folder = join(stateDirectory, "captured");
      return (await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")))).join("");
    };
    expect(await erase(gateway, { user: "carol@corp.example" })).toMatchObject({
      status: 200,
      document: { prompts: 4, of: { user: expect.stringMatching(/^[0-9a-f]{32}$/) } },
    });
    expect(await texts()).not.toContain("carol");
    expect(await onDisk()).not.toContain("carol");
    expect(await lastAudit(gateway)).toMatchObject({
      action: "capture erased",
      detail: expect.stringMatching(/^4 captured prompts of the user with the pseudonym [0-9a-f]{32} were deleted: asked for$/),
    });
    expect((await readCapture(gateway)).files).toMatchObject({ prompts: 4 });
    expect((await erase(gateway, { key: "ann" })).document).toEqual({ prompts: 0, of: { key: "ann" } });
    expect((await erase(gateway, { key: "bob" })).document).toEqual({ prompts: 4, of: { key: "bob" } });
    expect((await readCapture(gateway)).files).toMatchObject({ prompts: 0, bytes: 0, oldestDay: null });
    expect((await lastAudit(gateway))?.detail).toBe("4 captured prompts of the key bob were deleted: asked for");
    expect((await stat(join(stateDirectory, "captured.key"))).mode & 0o777).toBe(0o600);
    // What comes later is kept.
    await ask("bob", "carol@corp.example", "after it");
    await settledCapture(gateway, 5);
    expect(await texts()).toContain("after it");
    expect((await erase(gateway, {})).status).toBe(400);
    expect((await erase(gateway, { key: "ann", user: "carol" })).status).toBe(400);
  });

  it("finds a user after a restart, and leaves nothing of a copy that a crash cut", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway } = await keyedGateway(keyed, { stateDirectory });
    await putCapture(gateway);
    await askAs(gateway, "ann", { messages: [{ role: "user", content: "hi" }], user: "carol" });
    await settledCapture(gateway, 1);
    await gateway.close();
    await writeFile(join(stateDirectory, "captured", `${dayOf(0)}.30.jsonl.erasing`), "half");
    const again = await startTestGateway({}, { stateDirectory });
    expect(await readdir(join(stateDirectory, "captured"))).toEqual([`${dayOf(0)}.30.jsonl`]);
    expect((await erase(again, { user: "carol" })).document).toMatchObject({ prompts: 1 });
  });
});

describe("room for captured prompts", () => {
  it("is made by the oldest day, and is none where today's fill it", async () => {
    const stateDirectory = await temporaryDirectory();
    await mkdir(join(stateDirectory, "captured"));
    for (const daysAgo of [3, 2, 40])
      await writeFile(join(stateDirectory, "captured", `${dayOf(daysAgo)}.jsonl`), `{"x":"${"z".repeat(45_000)}"}\n`);
    const { gateway } = await keyedGateway(keyed, { stateDirectory });
    // The retention of these files is unknown, so those that are 40 days old are deleted at once.
    expect((await readCapture(gateway)).files).toMatchObject({ prompts: 2, oldestDay: dayOf(3), retentionDays: 7 });
    await putCapture(gateway, { mostBytes: 100_000 });
    for (let request = 0; request < 4; request += 1) await askAs(gateway, "ann", `${request}${"q".repeat(40_000)}`);
    const { files, counts } = await settledCapture(gateway, 4);
    expect(counts).toMatchObject({ kept: 2, dropped: { "no-room": 2 } });
    expect(files).toMatchObject({ prompts: 2, oldestDay: dayOf(0) });
    expect(files.bytes).toBeLessThanOrEqual(100_000);
  });

  it("ends with the days that prompts may stay", async () => {
    const stateDirectory = await temporaryDirectory();
    await mkdir(join(stateDirectory, "captured"));
    for (const daysAgo of [0, 1, 2]) await writeFile(join(stateDirectory, "captured", `${dayOf(daysAgo)}.jsonl`), "{}\n");
    const { gateway } = await keyedGateway(keyed, { stateDirectory });
    await putCapture(gateway, { retentionDays: 2 });
    expect((await readCapture(gateway)).files).toMatchObject({ prompts: 2, oldestDay: dayOf(1) });
    const expired = `1 captured prompts of ${dayOf(2)} were deleted: their retention time was over.`;
    await until(async () => JSON.stringify((await control(gateway, "GET", "/audit")).document).includes(expired));
  });

  it("is not lengthened by a later capture of somebody else", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway } = await keyedGateway(keyed, { stateDirectory });
    await putCapture(gateway, { keys: ["ann"], retentionDays: 1 });
    await askAs(gateway, "ann", "for a day");
    await settledCapture(gateway, 1);
    await putCapture(gateway, { keys: ["bob"], retentionDays: 365 });
    await askAs(gateway, "bob", "for a year");
    await settledCapture(gateway, 1);
    expect((await readCapture(gateway)).files).toMatchObject({ retentionDays: 365, leastRetentionDays: 1 });
    await gateway.close();
    // As if a day had passed.
    const folder = join(stateDirectory, "captured");
    for (const days of [1, 365]) await rename(join(folder, `${dayOf(0)}.${days}.jsonl`), join(folder, `${dayOf(1)}.${days}.jsonl`));
    const again = await startTestGateway({}, { stateDirectory });
    expect(await capturedLines(again)).toMatchObject([{ messages: [{ content: "for a year" }] }]);
    expect((await readCapture(again)).files).toMatchObject({ prompts: 1, oldestDay: dayOf(1), retentionDays: 365 });
  });
});

describe("rules of redaction at a gateway", () => {
  it("are refused where a text can make them run for ever, by name, and hold nothing up meanwhile", async () => {
    const { gateway } = await keyedGateway();
    const own = [
      { name: "fine", pattern: "cust-\\d+", replacement: "" },
      { name: "hopeless", pattern: "(z+)+!", replacement: "" },
    ];
    const begun = control(gateway, "PUT", "/capture", {
      share: 1,
      keys: ["ann"],
      redactions: { builtIn: [], own },
      retentionDays: 1,
      mostBytes: 1e6,
      ...signature,
    });
    let isRefused = false;
    void begun.then(() => {
      isRefused = true;
    });
    expect(await askAs(gateway, "ann", "hi")).toBe(200);
    expect(isRefused).toBe(false);
    expect(await begun).toMatchObject({
      status: 400,
      document: { error: { message: expect.stringMatching(/^The rule hopeless takes longer/) } },
    });
    expect((await readCapture(gateway)).running).toBeNull();
  });

  it("cost the one prompt on which they take too long, and no request", async () => {
    const { gateway } = await keyedGateway();
    // Slow only on an unusual text.
    const own = [{ name: "odd", pattern: "kq(?:(?:xy|x|y)+)+!", replacement: "" }];
    await putCapture(gateway, { redactions: { builtIn: [], own } });
    await askAs(gateway, "ann", `kq${"xy".repeat(40)}?`);
    await askAs(gateway, "ann", "an ordinary one");
    const { counts } = await settledCapture(gateway, 2);
    expect(counts).toMatchObject({ kept: 1, dropped: { "too-slow": 1 } });
    expect(await capturedLines(gateway)).toMatchObject([{ messages: [{ content: "an ordinary one" }] }]);
  });

  it("and keys are refused in a sentence where they make no sense", async () => {
    const { gateway, config } = await keyedGateway();
    const refusal = async (given: object): Promise<string> => {
      const body = {
        share: 1,
        keys: ["ann"],
        redactions: { builtIn: [], own: [] },
        retentionDays: 1,
        mostBytes: 1e6,
        ...signature,
        ...given,
      };
      const { status, document } = await control(gateway, "PUT", "/capture", body);
      return `${status} ${(document as { error: { message: string } }).error.message}`;
    };
    expect(await refusal({ keys: ["eve"] })).toBe('409 There is no key "eve"; there are ann, bob.');
    expect(await refusal({ keys: ["*"] })).toBe("409 This gateway has API keys: name the keys whose prompts may be captured, of ann, bob.");
    expect(await refusal({ keys: [] })).toMatch(/^400 /);
    const own = [{ name: "a", pattern: "(", replacement: "" }];
    expect(await refusal({ redactions: { builtIn: [], own } })).toBe(
      "400 `redactions.own.0.pattern` is wrong: it is no regular expression.",
    );
    await gateway.put({ ...config, settings: {} });
    expect(await refusal({})).toBe('409 This gateway has no API keys: give ["*"] as keys to capture of everybody, or set keys first.');
  });
});

it("waits for traffic where no configuration is in force", async () => {
  const gateway = await startTestGateway();
  expect(await readCapture(gateway)).toMatchObject({ running: null, keyNames: null });
});
