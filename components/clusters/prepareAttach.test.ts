import { describe, expect, it } from "vitest";
import { connectionSchema } from "@/server/endpoints/connection";
import { noAttempt } from "./endpointAttempt";
import {
  type AttachForm,
  gatewayOf,
  noExtras,
  noReference,
  prepareAttach,
  prepareWrittenAttach,
  referenceFault,
  referenceHint,
  studioGateway,
  suggestedName,
} from "./prepareAttach";
import { prepareEndpointRows } from "./prepareEndpointRows";
import { closedAt, triedAt } from "./testEndpoints";

const [a, b] = ["http://gpu-1:8000", "http://gpu-2:8000"] as const;
const form: AttachForm = { name: "prod", gateway: studioGateway, extras: noExtras, confirmed: false };
const attempted = [triedAt(a), closedAt(b)];
const rows = prepareEndpointRows(
  {
    ...noAttempt,
    endpoints: attempted.map(({ tried }) => tried),
    tried: Object.fromEntries(attempted.map((each) => [each.tried.url, each])),
  },
  {},
  undefined,
);
const prepared = (change: Partial<AttachForm> = {}, taken: readonly string[] = []) => prepareAttach(rows, { ...form, ...change }, taken);

describe("attaching pasted endpoints", () => {
  it("attaches adapters with their parent, at its address, in a connection that the studio takes", () => {
    const tried = triedAt(a, { adapters: ["Team/Tuned v2"] });
    const [row] = prepareEndpointRows({ ...noAttempt, endpoints: [tried.tried], tried: { [a]: tried } }, {}, undefined);
    const { request, says, models } = prepareAttach([row!], form, []);
    const read = connectionSchema.parse(request?.connection);
    expect(read.endpoints).toMatchObject([
      { model: "llama-3.1-70b", url: a },
      { model: "Team-Tuned-v2", servedName: "Team/Tuned v2", adapterOf: "llama-3.1-70b", url: a, tp: 4 },
    ]);
    expect(models).toEqual(["llama-3.1-70b", "Team-Tuned-v2"]);
    expect(says).toBe("1 engine of 1 will be attached.");
  });

  it("attaches those that can be, in a connection that the studio takes, and says how many are left out", () => {
    const { request, blocked, says, guesses } = prepared();
    expect(blocked).toBeNull();
    expect(says).toBe("1 engine of 2 will be attached, 1 left out.");
    expect(guesses).toBe(3);
    expect(request).toMatchObject({ name: "prod", gateway: null });
    const read = connectionSchema.safeParse(request?.connection);
    expect(read.error?.issues ?? []).toEqual([]);
    expect(read.data?.endpoints).toMatchObject([{ url: a, guessed: ["gpu", "tp", "pp"] }]);
  });

  it("marks nothing as guessed any more once somebody has said that it is right", () => {
    expect(prepared({ confirmed: true }).request?.connection).toMatchObject({ endpoints: [{ guessed: [] }] });
  });

  it("says what is in the way: no address, some being tried, none that can be attached, no name, a name that is taken", () => {
    const [ready, closed] = rows;
    if (ready === undefined || closed === undefined) throw new Error("no rows");
    const blocked = (...shown: typeof rows) => prepareAttach(shown, form, []).blocked;
    expect(blocked()).toContain("Paste the address");
    expect(blocked(ready, { ...closed, trying: true })).toBe("One address is being tried.");
    expect(blocked(closed)).toContain("None of these can be attached yet");
    expect(prepared({ name: " " }).blocked).toBe("Give it a name.");
    expect(prepared({}, ["prod"]).blocked).toContain('A cluster "prod" already exists');
  });

  it("takes a judge by reference only, without the path that the gateway adds, and exporters one a line", () => {
    const judge = { judgeModel: "judge", judgeUrl: "http://judge-1:8000/v1/", judgeKey: "WEIR_JUDGE_KEY" };
    expect(prepared({ extras: { ...noExtras, ...judge } }).request?.connection).toMatchObject({
      judge: { model: "judge", url: "http://judge-1:8000", keyFromEnvironment: "WEIR_JUDGE_KEY" },
    });
    expect(prepared({ extras: { ...noExtras, ...judge, judgeKey: "sk-123" } }).blocked).toContain("not the key itself");
    expect(prepared({ extras: { ...noExtras, judgeUrl: "http://judge-1:8000" } }).blocked).toContain("Give the name under which");
    expect(
      prepared({ extras: { ...noExtras, dcgm: "http://gpu-1:9400/metrics\nhttp://gpu-2:9400/metrics" } }).request?.connection,
    ).toMatchObject({ dcgmUrls: ["http://gpu-1:9400/metrics", "http://gpu-2:9400/metrics"] });
    expect(prepared({ extras: { ...noExtras, dcgm: "gpu-1" } }).blocked).toContain('"gpu-1"');
  });
});

describe("the time of a judge that an operator enters", () => {
  const judged = { ...noExtras, judgeModel: "judge", judgeUrl: "http://judge-1:8000" };
  const withSeconds = (judgeSeconds: string) => prepared({ extras: { ...judged, judgeSeconds } });

  it("is sent beside the connection, and not where it is left empty", () => {
    expect(withSeconds("0.05").request).toMatchObject({ judgeSecondsPerCall: 0.05, connection: { judge: { model: "judge" } } });
    expect(withSeconds("0,05").request?.judgeSecondsPerCall).toBe(0.05);
    expect(withSeconds(" ").request).not.toHaveProperty("judgeSecondsPerCall");
  });

  it("is refused where it is no number of seconds, or there is no judge", () => {
    for (const text of ["fast", "-1", "601", "50 ms"]) expect(withSeconds(text).blocked).toContain(`"${text}" is no number of seconds`);
    expect(prepared({ extras: { ...noExtras, judgeSeconds: "0.05" } }).blocked).toBe("Name the judge whose seconds of a call are given.");
  });
});

describe("attaching a written connection", () => {
  it("waits for one that was tried and can be used", () => {
    expect(prepareWrittenAttach(null, form, []).blocked).toContain("Try the connection first");
    expect(prepareWrittenAttach({ kind: "ray" }, form, [])).toEqual({
      request: { name: "prod", gateway: null, connection: { kind: "ray" } },
      blocked: null,
    });
  });
});

describe("a gateway of the operator's own", () => {
  const own = { runBy: "operator", url: "http://g:4610/", adminUrl: "http://g:4611", token: noReference } as const;

  it("is told by two addresses without a path, and a token by reference", () => {
    expect(gatewayOf(own)).toEqual({ gateway: { runBy: "operator", url: "http://g:4610", adminUrl: "http://g:4611" } });
    expect(gatewayOf({ ...own, token: { from: "environment", text: "WEIR_ENGINE_TOKEN" } })).toMatchObject({
      gateway: { token: { environment: "WEIR_ENGINE_TOKEN" } },
    });
    expect(gatewayOf({ ...own, url: "g:4610" })).toMatchObject({ fault: expect.stringContaining("address") });
    expect(gatewayOf({ ...own, adminUrl: "http://g:4611/admin" })).toMatchObject({ fault: expect.stringContaining("no path") });
  });

  it("is refused with a token that is typed in place of its variable's name", () => {
    expect(referenceFault({ from: "environment", text: "sk-secret" })).toContain("not the key itself");
    expect(referenceFault({ from: "file", text: "" })).toContain("Name the file");
    expect(referenceFault({ from: "file", text: "engine-key" })).toBeNull();
  });
});

describe("where a secret has to be put", () => {
  it("is told with the whole path of its file, or why no file can be read", () => {
    expect(referenceHint({ from: "file", text: " engine-key " }, "/var/weir/secrets")).toContain(" /var/weir/secrets/engine-key:");
    expect(referenceHint({ from: "file", text: "" }, "/var/weir/secrets")).toContain("/var/weir/secrets/NAME");
    expect(referenceHint({ from: "file", text: "a" }, null)).toContain("started without WEIR_SECRETS_DIR");
    expect(referenceHint({ from: "environment", text: "WEIR_ENGINE_KEY" }, null)).toContain("before studio and gateway start");
    expect(referenceHint(noReference, null)).toBeNull();
  });
});

describe("the name that is suggested", () => {
  const at = (url: string, taken = true) => ({ url, taken });

  it("is the first host's that is attached and has one, and is told apart from those there are", () => {
    const local = at("http://127.0.0.1:8000");
    expect(suggestedName([local, at("http://no-such-host:8000", false), at("http://gpu-7.lan:8000")], [])).toBe("gpu-7");
    expect(suggestedName([at("http://no-such-host:8000", false)], [])).toBe("my engines");
    expect(suggestedName([local], ["my engines"])).toBe("my engines 2");
  });
});
