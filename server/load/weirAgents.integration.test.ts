import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { currentMessage, inMessage, type Message, startMessage } from "@/public/agents/weirAgents";
import { condition, needs } from "@/scripts/needs.mjs";
import { workflowName } from "@/server/contracts/gateway/gatewayLearning";

const close: (() => void)[] = [];
afterEach(() => {
  for (const end of close.splice(0)) end();
});

/** A server that keeps what headers came, and answers when all `together` callers are there. */
async function recorder(together: readonly string[] = []) {
  const calls: IncomingHttpHeaders[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer(async (request, response) => {
    calls.push(request.headers);
    for await (const _ of request);
    if (together.includes(String(request.headers["x-weir-agent"]))) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === together.length) for (const go of waiting) go();
      });
    }
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  close.push(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`;
  return { calls, url };
}

/** Of each call: application, agent and what it follows. */
const told = (calls: readonly IncomingHttpHeaders[]): readonly string[] =>
  calls
    .map((headers) => `${headers["x-weir-workflow"]}: ${headers["x-weir-agent"]} after ${headers["x-weir-parents"] ?? "nothing"}`)
    .sort();

const programs = (calls: readonly IncomingHttpHeaders[]): number => new Set(calls.map((headers) => headers["x-session-id"])).size;

describe("the TypeScript that applications copy", () => {
  const askAt = (url: string) => (headers: Record<string, string>) => fetch(url, { method: "POST", headers });

  it("says of each call its message, application, agent, what it follows and when the message began", async () => {
    const { calls, url } = await recorder();
    const before = Date.now();
    const message = startMessage("report");
    await message.call("researcher", askAt(url));
    await message.call("writer", askAt(url));
    await fetch(url, { method: "POST", headers: message.headers("editor", ["researcher", "writer"]) });
    expect(told(calls)).toEqual([
      "report: editor after researcher,writer",
      "report: researcher after nothing",
      "report: writer after researcher",
    ]);
    expect(programs(calls)).toBe(1);
    const started = Number(calls[0]!["x-weir-started-at"]);
    expect(started).toBeGreaterThanOrEqual(before);
    expect(started).toBeLessThanOrEqual(Date.now());
  });

  it("has calls made side by side follow the same one, and the next one follow them all, a failed one too", async () => {
    const { calls, url } = await recorder(["left", "right"]);
    const message = startMessage("app");
    const ask = askAt(url);
    await message.call("plan", ask);
    await Promise.allSettled([
      message.call("left", ask),
      message.call("right", async (headers) => {
        await ask(headers);
        throw new Error("no answer");
      }),
    ]);
    await message.call("join", ask);
    const [join, ...others] = told(calls);
    expect(join).toMatch(/^app: join after (left,right|right,left)$/);
    expect(others).toEqual(["app: left after plan", "app: plan after nothing", "app: right after plan"]);
  });

  it("names an agent once for each of its calls that are followed, and of calls in lanes only what ended since", async () => {
    const { calls, url } = await recorder();
    const ask = askAt(url);
    const vote = startMessage("vote");
    await Promise.all(Array.from({ length: 4 }, () => vote.call("voter", ask)));
    await vote.call("aggregator", ask);
    expect(told(calls).slice(0, 2)).toEqual(["vote: aggregator after voter,voter,voter,voter", "vote: voter after nothing"]);

    const lanes = startMessage("lanes");
    const answer: (() => void)[] = [];
    const held = (agent: string) => lanes.call(agent, () => new Promise<void>((resolve) => answer.push(resolve)));
    const [first, second] = [held("first"), held("second")];
    answer[0]?.();
    await first;
    const third = lanes.call("third", ask);
    answer[1]?.();
    await Promise.all([second, third]);
    await lanes.call("last", ask);
    expect(told(calls.slice(5))).toEqual(["lanes: last after second,third", "lanes: third after first"]);
  });

  it("tells branches side by side apart, and keeps messages side by side from mixing", async () => {
    const { calls, url } = await recorder();
    const ask = (agent: string) => currentMessage()!.call(agent, askAt(url));
    const inTurn = (agents: readonly string[]) => async () => {
      for (const agent of agents) {
        await ask(agent);
        await sleep(2);
      }
    };
    const run = (message: Message) =>
      inMessage(message, async () => {
        await ask("plan");
        await Promise.all([message.branch(inTurn(["a1", "a2"])), message.branch(inTurn(["b1", "b2", "b3"]))]);
        await message.branch(async () => undefined);
        await ask("join");
      });
    const messages = ["one", "two"].map((application) => startMessage(application));
    await Promise.all(messages.map(run));
    for (const { application, id } of messages) {
      const own = told(calls.filter((headers) => headers["x-session-id"] === id));
      // Which branch ends last is chance.
      expect(own.map((call) => call.replace("b3,a2", "a2,b3"))).toEqual(
        ["plan after nothing", "a1 after plan", "a2 after a1", "b1 after plan", "b2 after b1", "b3 after b2", "join after a2,b3"]
          .map((call) => `${application}: ${call}`)
          .sort(),
      );
    }
    expect(currentMessage()).toBeUndefined();
  });

  it("writes any name as one word that gateways take, and nothing where none is left", () => {
    for (const name of ["Chief Executive", "a,b;c", "--x--", "-", "", "é", "名前", "x".repeat(200), "a\r\nb: c", "__proto__"]) {
      const headers = startMessage(name, "m").headers(name, [name, name]);
      const agent = headers["x-weir-agent"];
      for (const value of [headers["x-weir-workflow"], agent]) if (value !== undefined) expect(value).toMatch(workflowName);
      expect(headers["x-weir-parents"]).toBe(agent && `${agent},${agent}`);
    }
    const many = startMessage("app").headers(
      "join",
      Array.from({ length: 80 }, (_, at) => `a${at}`),
    );
    expect(many["x-weir-parents"]?.split(",")).toHaveLength(64);
  });
});

const python = (() => {
  try {
    execFileSync("python3", ["-c", "import contextvars"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

describe("the Python that applications copy", needs(condition("a python3 with contextvars", python)), () => {
  async function run(program: string, url: string): Promise<string> {
    const child = spawn("python3", ["-c", program, url], {
      env: { ...process.env, PYTHONPATH: join(process.cwd(), "public", "agents"), PYTHONDONTWRITEBYTECODE: "1" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
    });
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`python3 ended with ${code}`);
    return text;
  }
  const asking = `
import asyncio, contextvars, sys, threading, urllib.request
from weir_agents import Message, agent, branch, message
def ask(name):
    with agent(name) as headers:
        urllib.request.urlopen(urllib.request.Request(sys.argv[1], data=b"{}", headers=headers)).read()
async def later(name):
    with agent(name) as headers:
        request = urllib.request.Request(sys.argv[1], data=b"{}", headers=headers)
        await asyncio.to_thread(lambda: urllib.request.urlopen(request).read())
`;

  it("says of each call its message, application, agent, what it follows and when the message began", async () => {
    const { calls, url } = await recorder();
    const before = Date.now();
    await run(`${asking}\nwith message("report"):\n    ask("researcher")\n    ask("writer")\nask("alone")`, url);
    expect(told(calls)).toEqual(["report: researcher after nothing", "report: writer after researcher", "undefined: alone after nothing"]);
    expect(programs(calls)).toBe(2);
    const started = Number(calls[0]!["x-weir-started-at"]);
    expect(started).toBeGreaterThanOrEqual(before);
    expect(started).toBeLessThanOrEqual(Date.now());
  });

  it("tells branches side by side apart, and keeps messages side by side from mixing", async () => {
    const { calls, url } = await recorder();
    const program = `${asking}
async def in_turn(*names):
    with branch():
        for name in names:
            await later(name)
async def work(application):
    with message(application):
        await later("plan")
        await asyncio.gather(later("left"), later("right"))
        await later("middle")
        await asyncio.gather(in_turn("a1", "a2"), in_turn("b1", "b2", "b3"))
        await later("join")
async def main():
    await asyncio.gather(work("one"), work("two"))
asyncio.run(main())`;
    await run(program, url);
    expect(programs(calls)).toBe(2);
    for (const application of ["one", "two"]) {
      const own = told(calls.filter((headers) => headers["x-weir-workflow"] === application));
      const plain = own.map((call) => call.replace("right,left", "left,right").replace("b3,a2", "a2,b3"));
      expect(plain).toEqual(
        [
          ...["plan after nothing", "left after plan", "right after plan", "middle after left,right", "a1 after middle", "a2 after a1"],
          ...["b1 after middle", "b2 after b1", "b3 after b2", "join after a2,b3"],
        ]
          .map((call) => `${application}: ${call}`)
          .sort(),
      );
    }
  });

  it("names an agent once for each of its calls that are followed, and of calls in lanes only what ended since", async () => {
    const { calls, url } = await recorder();
    const program = `${asking}
async def main():
    with message("vote"):
        await asyncio.gather(*(later("voter") for _ in range(4)))
        await later("aggregator")
    with message("lanes"):
        first, second = agent("first"), agent("second")
        first.__enter__(); second.__enter__()
        first.__exit__(None, None, None)
        with agent("third") as headers:
            second.__exit__(None, None, None)
            print(headers["x-weir-parents"])
        with agent("last") as headers:
            print(headers["x-weir-parents"])
asyncio.run(main())`;
    expect(await run(program, url)).toBe("first\nsecond,third\n");
    expect(told(calls)).toEqual(["vote: aggregator after voter,voter,voter,voter", ...Array(4).fill("vote: voter after nothing")]);
  });

  it("keeps calls of threads that run in a copied context in their message, and a failed call among what is followed", async () => {
    const { calls, url } = await recorder();
    const program = `${asking}
with message("app"):
    thread = threading.Thread(target=contextvars.copy_context().run, args=(ask, "first"))
    thread.start(); thread.join()
    try:
        with agent("second"):
            raise ValueError("no answer")
    except ValueError:
        pass
    ask("third")`;
    await run(program, url);
    expect(told(calls)).toEqual(["app: first after nothing", "app: third after second"]);
  });

  it("writes names as the TypeScript does", async () => {
    const names = ["Chief Executive", "a,b;c", "--x--", "-", "", "é", "名前", "x".repeat(200), "a\r\nb: c", "__proto__"];
    const program = `
import json, sys
from weir_agents import Message
print(json.dumps([Message(name, "m", 5).headers(name, [name, "b", "b"]) for name in json.loads(sys.argv[1])]))`;
    const said: unknown = JSON.parse(await run(program, JSON.stringify(names)));
    expect(said).toEqual(names.map((name) => ({ ...startMessage(name, "m").headers(name, [name, "b", "b"]), "x-weir-started-at": "5" })));
  });
});
