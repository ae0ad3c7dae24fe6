import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressFault, addressOf } from "../engineClient/address";
import { connectionSchema } from "./connection";
import { parsePasted } from "./parsePasted";

const urlsOf = (text: string): readonly string[] => {
  const parsed = parsePasted(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.endpoints.map(({ url }) => url);
};
const sentence = (text: string): string => {
  const parsed = parsePasted(text);
  return parsed.ok ? "" : parsed.message;
};

// A label that begins with `xn--` is punycode, and most are not valid names.
const label = fc.stringMatching(/^[a-z][a-z0-9-]{0,10}[a-z0-9]$/).filter((text) => !text.startsWith("xn--"));
const host = fc.oneof(
  label,
  fc.tuple(label, label).map((parts) => parts.join(".")),
  fc.ipV4(),
  fc.ipV6().map((ip) => `[${ip}]`),
);
const root = fc.record({ host, port: fc.integer({ min: 1024, max: 65_535 }) }).map(({ host: name, port }) => `${name}:${port}`);
const ends = ["", "/", "/v1", "/v1/", "/v1/models", "/v1/chat/completions", "/metrics", "/health"];
const written = fc.record({
  root,
  scheme: fc.constantFrom("http://", ""),
  end: fc.constantFrom(...ends),
  wrap: fc.constantFrom<(url: string) => string>(
    (url) => url,
    (url) => `- ${url}`,
    (url) => `"${url}",`,
    (url) => `  ${url}  # the small one`,
    (url) => `curl -s -X POST ${url} -H 'Content-Type: application/json' -d '{"model": "http://no.example:1"}'`,
    (url) => `$ curl \\\n  --url "${url}" \\\n  -H "Authorization: Bearer $TOKEN"`,
  ),
});
const canonical = (address: string): string => new URL(`http://${address}`).origin;

describe("a pasted block of text", () => {
  it("takes this machine's loopback under its several names as one", () => {
    expect(urlsOf("http://127.0.0.1:5733\nlocalhost:5733/v1, http://[::1]:5733\nlocalhost:5734")).toEqual([
      "http://127.0.0.1:5733",
      "http://localhost:5734",
    ]);
  });

  it("gives the same endpoints however their addresses are written, each once, in their order", () => {
    fc.assert(
      fc.property(fc.array(written, { minLength: 1, maxLength: 8 }), fc.constantFrom("\n", "\r\n", "\n\n# more\n"), (lines, between) => {
        const text = lines.map(({ root: address, scheme, end, wrap }) => wrap(`${scheme}${address}${end}`)).join(between);
        expect(urlsOf(text)).toEqual([...new Set(lines.map((line) => canonical(line.root)))]);
      }),
    );
  });

  it("separates by commas, semicolons and white space too", () => {
    fc.assert(
      fc.property(fc.array(root, { minLength: 1, maxLength: 8 }), fc.constantFrom(",", ", ", " ", ";", "\t"), (roots, by) => {
        expect(urlsOf(roots.join(by))).toEqual([...new Set(roots.map(canonical))]);
      }),
    );
  });

  it("gives names and addresses that a connection takes, and reads its own addresses back", () => {
    fc.assert(
      fc.property(fc.array(root, { minLength: 1, maxLength: 12 }), (roots) => {
        const parsed = parsePasted(roots.join("\n"));
        if (!parsed.ok) throw new Error(parsed.message);
        const whole = parsed.endpoints.map((endpoint) => ({ ...endpoint, model: "m", gpu: "l40s", precision: "bf16" }));
        expect(connectionSchema.safeParse({ kind: "endpoints", endpoints: whole }).error).toBeUndefined();
        expect(parsePasted(parsed.endpoints.map(({ url }) => url).join(" "))).toMatchObject({ endpoints: parsed.endpoints });
      }),
    );
  });

  it("never throws, and answers either with endpoints or with a sentence that names the line", () => {
    const scraps = fc.constantFrom(
      "http://",
      "curl ",
      "\\\n",
      "[",
      "]",
      "'",
      '"',
      ":",
      "@",
      "//",
      "#",
      "-H",
      " ",
      "\n",
      "1",
      "a",
      "%",
      "?",
    );
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(scraps, { maxLength: 30 }).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, (given) => {
        const parsed = parsePasted(given);
        if (parsed.ok) for (const { url } of parsed.endpoints) expect(addressFault(url)).toBeNull();
        else expect(parsed.message).toMatch(/^(Line \d+|No address|That are) .*\.$|^Line \d+: .*\.$/);
      }),
      { numRuns: 500 },
    );
  });

  it("lets no key through that stands in it, into endpoints, notes or sentences", () => {
    const secret = fc.stringMatching(/^sk-[A-Za-z0-9]{16}$/);
    const around = fc.constantFrom<(key: string) => string>(
      (key) => `curl http://h:1/v1/models -H "Authorization: Bearer ${key}"`,
      (key) => `curl http://h:1/v1/models -H 'authorization: ${key}'`,
      (key) => `curl -u user:${key} h:1`,
      (key) => `curl --header="Authorization: Bearer ${key}" h:1`,
      (key) => `http://h:1/v1 ${key}`,
      (key) => `http://user:${key}@h:1`,
      (key) => `http://h:1/?api_key=${key}`,
      (key) => `h:1 # ${key}`,
    );
    fc.assert(
      fc.property(secret, around, (key, put) => {
        expect(JSON.stringify(parsePasted(put(key)))).not.toContain(key);
      }),
    );
  });

  it("takes the variable that a curl line names, and says that a key was left out", () => {
    expect(parsePasted('curl https://e.example/v1/models -H "Authorization: Bearer $WEIR_ENGINE_A"')).toEqual({
      ok: true,
      endpoints: [{ name: "e-443", url: "https://e.example", key: { environment: "WEIR_ENGINE_A" } }],
      notes: [],
    });
    expect(parsePasted("curl h:1 -H 'Authorization: Bearer sk-live-1234'")).toMatchObject({
      endpoints: [{ name: "h-1", url: "http://h:1" }],
      notes: [expect.stringMatching(/^Line 1 holds a key, which was left out/)],
    });
  });

  it("leaves out a line that cannot be read, says which, and gives the others", () => {
    expect(parsePasted("http://a:1\nhttp://b:2 ftp://c:3\nd:4")).toMatchObject({
      endpoints: [{ url: "http://a:1" }, { url: "http://d:4" }],
      notes: [expect.stringMatching(/^Left out: Line 2: "ftp:/)],
    });
    const many = parsePasted(["a:1", ...Array<string>(9).fill("what?")].join("\n"));
    expect(many.ok && [many.notes.length, many.notes.at(-1)]).toEqual([6, "Left out: 4 more lines that cannot be read."]);
  });

  it("keeps a path of the engine's own, and https", () => {
    expect(urlsOf("https://gw.example/team-a/v1/models gw.example:443")).toEqual(["https://gw.example/team-a", "https://gw.example"]);
    expect(addressOf("http://h:80/v1")).toEqual({ ok: true, url: "http://h" });
  });

  it.each([
    ["\nftp://x/y", 'Line 2: "ftp://x/y": ftp:// is no http or https address.'],
    ["\n\n# c\nsome words\nand more", "Line 4: that is neither a URL nor a host with its port, such as gpu-1:8000."],
    ["http://h:99999", 'Line 1: "http://h:99999": that is no address that can be asked.'],
    ["http://u:p@h:1", "Line 1: the address holds a user or a password, which Weir does not send."],
    ["curl -s", "Line 1 holds no address."],
    ["\n  # nothing\n", "No address was found: paste the URLs of your engines, one a line."],
  ])("says what is wrong with %j", (text, message) => {
    expect(sentence(text)).toBe(message);
  });
});
