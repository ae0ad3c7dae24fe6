import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { builtInNames } from "./builtInRedactions";
import { patternProblem, type RedactionRule, Redactor, redactionChoiceSchema } from "./redactor";
import { redactPrompt } from "./redactPrompt";

const all = (own: readonly RedactionRule[] = []) => new Redactor({ builtIn: builtInNames, own });

describe("redaction by Weir's own rules", () => {
  it.each([
    ["write to Ann.O'Neil+x@mail.example.co.uk, please", "write to [email], please"],
    ["jürgen@müller.example", "[email]"],
    ["card 4111 1111 1111 1111 12 pieces", "card [card] 12 pieces"],
    ["4111-1111-1111-1111", "[card]"],
    ["amex 3782 822463 10005.", "amex [card]."],
    ["5500005555555559", "[card]"],
    ["pay to DE89 3704 0044 0532 0130 00 AND tell me", "pay to [iban] AND tell me"],
    ["gb29nwbk60161331926819", "[iban]"],
    ["from 203.0.113.7:8080 and 2001:db8::ff00:42:8329.", "from [ip]:8080 and [ip]."],
    ["call +49 (0)30 901820 or 0171/1234567 or (555) 123-4567", "call [phone] or [phone] or [phone]"],
    ["+14155552671", "[phone]"],
    ["key sk-proj-abcdEFGH1234567890_x, AKIAIOSFODNN7EXAMPLE", "key [secret], [secret]"],
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "[secret]"],
    ["Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123==", "Authorization: [bearer]"],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "[secret]"],
  ])("takes out what %j holds", (text, left) => {
    expect(all().text(text)).toBe(left);
  });

  it.each([
    ["4111\u00a01111\u202f1111\u00a01111 and 4111  1111  1111  1111", "[card] and [card]"],
    ["４１１１　１１１１　１１１１　１１１１。", "[card]。"],
    ["DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000", "[iban]"],
    ["DE89  3704  0044  0532  0130  00", "[iban]"],
    ["a\u200bb +49\u00a030\u00a0901820, +49\u201130\u2011901820 c\u200bd", "a\u200bb [phone], [phone] c\u200bd"],
    ["٠١٧١ ١٢٣٤٥٦٧", "[phone]"],
    ["ｊａｎｅ＠ｅｘａｍｐｌｅ．ｃｏｍ，好", "[email]，好"],
    ["ja\u00adne\u200b@exam\u200dple.com\u200b!", "[email]\u200b!"],
    ["oﬀice@example.com ½", "[email] ½"],
    ["ju\u0308rgen@example.com", "[email]"],
    ["?to=jane%40example.com&x=%40", "?to=[email]&x=%40"],
    ['result: {"m":"jane\\u0040example.com"}', 'result: {"m":"[email]"}'],
    ["from ::ffff:10.1.2.3", "from [ip]"],
    ["ssn 123-45-6789, 666-12-3456", "ssn [ssn], 666-12-3456"],
    ["https://user:pa55@ss@host.example/x and postgres://u:p@db", "[secret]@host.example/x and [secret]@db"],
    ["aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key=[secret]"],
    ['PASSWORD: hunter2, db_password="correcthorse"', 'PASSWORD: [secret], db_password="[secret]"'],
    ['so {\\"password\\": \\"hunter2\\"}', 'so {\\"password\\": \\"[secret]\\"}'],
    ["apiKey: 'abcdefgh12345678'", "apiKey: '[secret]'"],
    ["Authorization: Basic dXNlcjpwYXNz", "Authorization: [bearer]"],
    [`npm_${"a1".repeat(18)} SG.${"a1".repeat(11)}.${"b2".repeat(20)} ya29.${"c3".repeat(20)}`, "[secret] [secret] [secret]"],
    ["-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOY\n=ab\n-----END PGP PRIVATE KEY BLOCK-----", "[secret]"],
    [`-----BEGIN PRIVATE KEY-----\n${`${"Ab1/".repeat(16)}\n`.repeat(200)}-----END PRIVATE KEY-----.`, "[secret]."],
    [`-----BEGIN PRIVATE KEY-----\n${"Ab1/".repeat(16)}\n${"Ab1/".repeat(16)} Why?`, "[secret] Why?"],
    ['{"login":{"password":"correct horse"},"note":"x"}', '{"login":{"password":"[secret]"},"note":"x"}'],
  ])("takes out what %j holds, however it is written", (text, left) => {
    expect(all().text(text)).toBe(left);
  });

  it.each([
    "4111 1111 1111 1112 fails its check",
    "GB30 NWBK 6016 1331 9268 19 too",
    "version 1.2.3, at 12:30:45 on 2026-11-22, std::vector, a1:b2:c3:d4:e5:f6",
    "3.14159265358979, 1234567890123, 12 13 14 15 16 17 18, 100,000,000",
    "the bearer of this letter, a basic understanding",
    "user @ home, a@b",
    "“fancy” – text…　with，wide １２ and\u00a0odd\u200b blanks, \\u0041 and %40",
    "def login(user: str, password: str) -> Token: # the password: it is asked for",
    "token: a word of the model, key: value, secret = read_secret()",
    "Room 0301, build 20261122, 2024-2025, 05-11-2024, 01/02/24",
  ])("leaves %j as it is", (text) => {
    expect(all().text(text)).toBe(text);
  });

  it("takes what is chosen and nothing else, and counts it", () => {
    const redactor = new Redactor({ builtIn: ["email"], own: [] });
    expect(redactor.text("a@b.example 203.0.113.7 c@d.example")).toBe("[email] 203.0.113.7 [email]");
    expect([redactor.takeCounts(), redactor.takeCounts()]).toEqual([{ email: 2 }, {}]);
  });

  it("finds every address wherever it stands", () => {
    const word = fc.stringMatching(/^[a-z ,;(]{0,30}$/);
    const address = fc.stringMatching(/^[a-z]{1,10}@[a-z]{1,10}\.(com|example)$/);
    fc.assert(
      fc.property(word, address, word, (before, found, after) => {
        expect(all().text(`${before} ${found} ${after}`)).not.toContain(found);
      }),
    );
  });

  it("finds an address in whatever blanks, invisible and wide letters, and leaves what is around it as it came", () => {
    const around = fc.string({ unit: fc.constantFrom("a", "\u00a0", "，", "ﬁ", "½", "\u200b", "７", "–", "é", "𝟙", "\\u0041") });
    const wide = (text: string): string => text.replace(/[a-z@.]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0));
    fc.assert(
      fc.property(around, fc.stringMatching(/^[a-z]{1,10}@[a-z]{1,10}\.(com|example)$/), around, (before, found, after) => {
        expect(all().text(`${before}; ${wide(found)}; ${after}`)).toBe(`${before}; [email]; ${after}`);
      }),
    );
  });

  it("takes a text of any kind, and twice changes no more than once", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        const once = all().text(text);
        expect(all().text(once)).toBe(once);
      }),
    );
  });
});

describe("redaction by an operator's rules", () => {
  it("puts the replacement as it stands, in either case of letters", () => {
    const redactor = all([{ name: "customer", pattern: "\\bcust-(\\d+)\\b", replacement: "$1 <customer>" }]);
    expect(redactor.text("CUST-77 and cust-8")).toBe("$1 <customer> and $1 <customer>");
    expect(redactor.takeCounts()).toEqual({ customer: 2 });
  });

  it("refuses patterns that are none, or that match nothing at all", () => {
    expect(patternProblem("(")).toMatch(/no regular expression/);
    expect(patternProblem("x*")).toMatch(/no text at all/);
    expect(redactionChoiceSchema.safeParse({ builtIn: [], own: [{ name: "a", pattern: "[", replacement: "" }] }).success).toBe(false);
    expect(redactionChoiceSchema.safeParse({ builtIn: [], own: [{ name: "a", pattern: "a".repeat(501), replacement: "" }] }).success).toBe(
      false,
    );
  });
});

describe("redaction of prompts", () => {
  it("reaches system texts, parts, tools, arguments as they are meant, answers of tools and names of members", () => {
    const escaped = JSON.stringify({ to: "ann@corp.example", "bob@corp.example": [1] }).replaceAll("@", "\\u0040");
    const body = {
      messages: [
        { role: "system", content: "You serve ann@corp.example." },
        { role: "user", name: "ann@corp.example", content: [{ type: "text", text: "I am ann@corp.example" }] },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "ann@corp.example", type: "function", function: { name: "mail", arguments: escaped } }],
        },
        { role: "tool", tool_call_id: "ann@corp.example", content: "sent to ann@corp.example" },
      ],
      tools: [
        { type: "function", function: { name: "mail", description: "not ann@corp.example", parameters: { "ann@corp.example": {} } } },
      ],
      temperature: 0.5,
      stop: ["ann@corp.example"],
    };
    const redactor = all();
    const redacted = redactPrompt(body, redactor) as typeof body;
    expect(JSON.stringify(redacted)).not.toMatch(/corp|u0040/);
    expect(redacted.messages[2]?.tool_calls?.[0]).toMatchObject({
      id: "call_1",
      function: { arguments: '{"to":"[email]","[email]":[1]}' },
    });
    expect(redacted.messages[3]).toMatchObject({ role: "tool", tool_call_id: "call_1" });
    expect(redacted).toMatchObject({ temperature: 0.5, messages: [{ role: "system", content: "You serve [email]." }, {}, {}, {}] });
  });

  it("leaves a prompt in which nothing is found as it came, numbers in arguments too", () => {
    const call = { id: "x", function: { arguments: '{ "n": 12345678901234567890.0 }' } };
    const body = {
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", tool_calls: [call] },
      ],
    };
    expect(redactPrompt(body, all())).toEqual({
      messages: [body.messages[0], { role: "assistant", tool_calls: [{ ...call, id: "call_1" }] }],
    });
  });
});
