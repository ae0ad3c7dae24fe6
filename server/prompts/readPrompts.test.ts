import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { readAll, testPromptFiles } from "./testing/testPromptFile";

const files = testPromptFiles();
afterAll(files.remove);

const lines = (...all: readonly unknown[]): string => all.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("\n");
const ask = (content: string) => ({ messages: [{ role: "user", content }] });

describe("files of prompts", () => {
  it("reads lines of OpenAI's batch form, with all that decides over the answer and nothing about delivery", async () => {
    const body = { model: "gpt-4o", stream: true, n: 2, user: "u", metadata: { a: "b" }, temperature: 0.2, max_tokens: 50 };
    const tools = [{ type: "function", function: { name: "f", parameters: {} } }];
    const line = { custom_id: "r-1", method: "POST", url: "/v1/chat/completions", body: { ...body, ...ask("Hi"), tools } };
    expect(await readAll(files.file(lines(line)))).toEqual({
      form: "batch",
      prompts: [
        {
          id: "r-1",
          category: "",
          atMs: null,
          body: { temperature: 0.2, max_tokens: 50, tools, ...ask("Hi") },
          reference: null,
          test: null,
        },
      ],
      skipped: [],
    });
  });

  it("reads chat lines, and leaves out fields that an engine may not know", async () => {
    const line = {
      ...ask("Hi"),
      id: "a",
      category: "greeting",
      created: 1_767_225_600,
      ideal: "Hello",
      test: "assert",
      source: "web",
      top_p: 1,
    };
    expect(await readAll(files.file(lines(line)))).toMatchObject({
      form: "chat",
      prompts: [
        { id: "a", category: "greeting", atMs: Date.UTC(2026, 0, 1), body: { ...ask("Hi"), top_p: 1 }, reference: "Hello", test: "assert" },
      ],
    });
    expect(JSON.stringify(await readAll(files.file(lines(line))))).not.toContain("source");
  });

  it("takes the answer at the end of a line for fine-tuning as the reference", async () => {
    const messages = [{ role: "system", content: "Be short." }, ...ask("2+2?").messages];
    const read = await readAll(files.file(lines({ messages: [...messages, { role: "assistant", content: "4" }] })));
    expect(read).toMatchObject({ prompts: [{ id: "line-1", body: { messages }, reference: "4" }] });
  });

  it("passes several turns, tool calls, tool messages and parts of contents as they are", async () => {
    const messages = [
      { role: "system", content: "s" },
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url: "data:," } },
        ],
      },
      { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "c", content: "a cat" },
    ];
    expect(await readAll(files.file(lines({ messages })))).toMatchObject({ prompts: [{ body: { messages } }], skipped: [] });
  });

  it("reads captured traffic, whose category is its key or class", async () => {
    const line = { ...ask("Hi"), id: "c1", atMs: 1_767_225_600_123, category: "batch", metadata: { key: "k" } };
    expect(await readAll(files.file(lines(line)))).toMatchObject({
      form: "chat",
      prompts: [{ atMs: 1_767_225_600_123, category: "batch", body: ask("Hi") }],
    });
  });

  it("takes records of decisions whose prompt is whole, and leaves out and names the others", async () => {
    const record = (prompt: string, promptCharacters?: number) => ({ id: "d", finishedAtMs: 1_767_225_600_000, prompt, promptCharacters });
    const whole = "system: s\nuser: one\ntwo\nassistant: three\nuser: four";
    const read = await readAll(
      files.file(
        lines(record(whole, whole.length), record("ser: cut", 900), record("user: of an older gateway"), record("just text", 9), {
          id: "e",
          finishedAtMs: 1,
        }),
      ),
    );
    expect(read).toMatchObject({
      form: "record",
      prompts: [
        {
          body: {
            messages: [
              { role: "system", content: "s" },
              { role: "user", content: "one\ntwo" },
              { role: "assistant", content: "three" },
              { role: "user", content: "four" },
            ],
          },
        },
        { body: ask("just text") },
      ],
      skipped: [
        { line: 2, problem: expect.stringContaining("kept only in part") },
        { line: 3, problem: expect.stringContaining("kept only in part") },
        { line: 5, problem: "its prompt was not kept" },
      ],
    });
  });

  it("reads CSV with a column prompt, lines within quotes and a byte order mark", async () => {
    const csv =
      '\uFEFFid,Prompt,category,timestamp,reference,other\r\nq1,"one\nline, two",maths,2026-01-01 08:00:00,4,x\r\n,"",,,,\r\nshort\r\nq3,"a ""b""",,,,\r\n';
    expect(await readAll(files.file(csv, "mine.csv"))).toMatchObject({
      form: "csv",
      prompts: [
        { id: "q1", category: "maths", atMs: Date.UTC(2026, 0, 1, 8), body: ask("one\nline, two"), reference: "4", test: null },
        { id: "q3", category: "", body: ask('a "b"'), reference: null },
      ],
      skipped: [
        { line: 4, problem: "it has no text of a user" },
        { line: 5, problem: expect.stringContaining("found 1 fields where the header has 6") },
      ],
    });
  });

  it("loses one line to a quote too many, whatever stands behind it", async () => {
    const rows = Array.from({ length: 30_000 }, (_, at) => `"prompt ${at}, as it is",c`);
    const broken = ['"text"x,c', '"never closed,c', 'a "b" c,c', "too,many,fields"];
    const csv = ["prompt,category", ...rows.slice(0, 10), ...broken, ...rows.slice(10)].join("\n");
    const read = await readAll(files.file(csv, "mine.csv"));
    expect(read).toMatchObject({ prompts: { length: 30_000 }, skipped: [{ line: 12 }, { line: 13 }, { line: 14 }, { line: 15 }] });
    expect("prompts" in read && read.prompts.at(-1)?.id).toBe("line-30005");
  });

  it("says how columns and lines of a table are parted that cannot be taken", async () => {
    expect(await readAll(files.file("id;prompt\n1;what?\n", "mine.csv"))).toMatchObject({ message: expect.stringContaining("semicolons") });
    expect(await readAll(files.file("id,prompt\r1,what?\r2,why?\r", "mine.csv"))).toMatchObject({
      message: expect.stringContaining("carriage returns alone"),
    });
  });

  it("names each line it cannot use, by its own number and without a word of it", async () => {
    const secret = "zanzibar";
    const content = lines(
      `{"messages": [{"role": "user", "content": "${secret}`,
      "",
      ask("good"),
      { messages: [] },
      { messages: [{ role: secret, content: "x" }] },
      { messages: [{ role: "user", content: 7 }] },
      { messages: [{ role: "system", content: secret }] },
      ask("  "),
      `"${secret}"`,
      { custom_id: secret, body: ask(secret) },
      { [secret]: 1 },
      { messages: secret },
    );
    const read = await readAll(files.file(content));
    expect(read).toMatchObject({
      prompts: [{ id: "line-3" }],
      skipped: [
        { line: 1, problem: "it is not JSON" },
        { line: 4, problem: "`messages` is empty" },
        { line: 5, problem: "message 1 has none of the known roles" },
        { line: 6, problem: "the content of message 1 is neither text nor a list of parts" },
        { line: 7, problem: "it has no text of a user" },
        { line: 8, problem: "it has no text of a user" },
        { line: 9, problem: "it is no JSON object" },
        { line: 10, problem: "it is of another form than the lines before: it needs `messages`" },
        { line: 11, problem: "it is of another form than the lines before: it needs `messages`" },
        { line: 12, problem: "`messages` is no list" },
      ],
    });
    expect("skipped" in read && JSON.stringify(read.skipped)).not.toContain(secret);
  });

  it("skips lines of bytes that are no text and lines over 8 MB, and reads on after them", async () => {
    const good = Buffer.from(`${JSON.stringify(ask("good"))}\r\n`);
    const bytes = Buffer.concat([
      ...[Buffer.from([0xef, 0xbb, 0xbf]), good, Buffer.from([0xff, 0xfe, 0x41, 0x0a]), Buffer.from("a\0b\n")],
      ...[Buffer.alloc(9 * 1024 * 1024, "x"), Buffer.from("\r\n"), good, good.subarray(0, -2)],
    ]);
    expect(await readAll(files.file(bytes))).toMatchObject({
      prompts: [{ id: "line-1" }, { id: "line-5" }, { id: "line-6" }],
      skipped: [
        { line: 2, problem: "it is not text in UTF-8" },
        { line: 3, problem: "it is not text in UTF-8" },
        { line: 4, problem: "it is longer than 8 MB" },
      ],
    });
  });

  it("skips what is nested too deeply to be written down again", async () => {
    const deep = `{"messages":[{"role":"user","content":"q"}],"tools":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(await readAll(files.file(lines(deep, ask("good"))))).toMatchObject({
      prompts: [{ id: "line-2" }],
      skipped: [{ line: 1, problem: "it is nested too deeply" }],
    });
  });

  it("reads what gzip packed, and says of a broken one that it is", async () => {
    const packed = gzipSync(lines(...Array.from({ length: 5000 }, (_, at) => ask(`question ${at * 7919}`))));
    expect(await readAll(files.file(packed))).toMatchObject({ prompts: { length: 5000 } });
    expect(await readAll(files.file(packed.subarray(0, packed.length / 2), "half.gz"))).toEqual({
      message: "half.gz is packed with gzip and is damaged or breaks off: pack it again.",
    });
  });

  it("cleans ids of what would break lists and lines", async () => {
    const ids = ["a]b[c", "two\nlines\r\n", "x".repeat(500), "", 12];
    const read = await readAll(files.file(lines(...ids.map((id) => ({ ...ask("q"), id })))));
    expect(read).toMatchObject({
      prompts: [{ id: "a-b-c" }, { id: "two lines" }, { id: "x".repeat(100) }, { id: "line-4" }, { id: "12" }],
    });
  });

  it.each([
    ["nothing", "", "is empty"],
    ["blank lines", "\n\n \n", "is empty"],
    ["prose", "Dear all,\nplease find", "has no line that can be read as a prompt"],
    ["a table without prompts", "question,answer\n1,2\n", 'its columns are question, answer: name the one that holds the prompts "prompt"'],
    ["one list", `[\n  ${JSON.stringify(ask("q"))}\n]`, "begins like one list"],
    ["text in UTF-16", Buffer.from("\uFEFF{}", "utf16le"), "not text in UTF-8"],
    ["one line without end", Buffer.alloc(9_000_000, "x"), "longer than 8 MB"],
  ])("says in a sentence what is taken, given %s", async (_, content, words) => {
    const read = await readAll(files.file(content));
    expect(read).toMatchObject({ message: expect.stringContaining(words) });
    expect(read).toMatchObject({ message: expect.stringMatching(/JSON lines.*CSV with a column prompt/) });
  });
});
