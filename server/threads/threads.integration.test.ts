import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ResidentThread } from "./residentThread";
import { TaskThreads } from "./taskThreads";
import type { TestTask } from "./testing/testWorker";
import { type ThreadOptions, WorkerThread } from "./workerThread";

const folder = mkdtempSync(join(tmpdir(), "threads-"));
const file = join(folder, "testWorker.mjs") as `/${string}`;
const never = new AbortController().signal;

beforeAll(async () => {
  const entryPoints = { testWorker: "server/threads/testing/testWorker.ts", workerThread: "server/threads/workerThread.ts" };
  await build({
    ...{ entryPoints, outdir: folder, outExtension: { ".js": ".mjs" }, logLevel: "warning" },
    ...{ bundle: true, format: "esm", platform: "node", target: "node20" },
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function thread(options: Partial<ThreadOptions> = {}) {
  const ends: string[] = [];
  const started = new WorkerThread<TestTask, number, number>({ file, ...options }, ({ kind }) => ends.push(kind));
  onTestFinished(() => started.close());
  return { started, ends };
}

describe("WorkerThread", () => {
  it("answers tasks one after another", async () => {
    const { started } = thread();
    const values = [1, 2, 3];
    expect(await Promise.all(values.map((value) => started.ask({ kind: "double", value })))).toEqual([2, 4, 6]);
  });

  it("reports progress in order, and a task that waits for it does not run ahead", async () => {
    const { started } = thread();
    const said: number[] = [];
    expect(await started.ask({ kind: "count", to: 4 }, { onSaid: (value) => said.push(value) })).toBe(4);
    expect(said).toEqual([1, 2, 3, 4]);
  });

  it("rejects a task with what it threw, or with what the reader of its progress threw, and goes on", async () => {
    const { started } = thread();
    await expect(started.ask({ kind: "throw" })).rejects.toThrow(new RangeError("out of range"));
    const onSaid = (): void => {
      throw new Error("the reader failed");
    };
    await expect(started.ask({ kind: "count", to: 2 }, { onSaid })).rejects.toThrow("the reader failed");
    expect(await started.ask({ kind: "double", value: 4 })).toBe(8);
  });

  it("rejects at once when a task is cancelled, tells the busy thread, and does the next task", async () => {
    const { started } = thread();
    const stop = new AbortController();
    const spinning = started.ask({ kind: "untilCancelled" }, { signal: stop.signal });
    const next = started.ask({ kind: "double", value: 5 });
    await started.ask({ kind: "double", value: 0 }, { signal: AbortSignal.timeout(50) }).catch(() => undefined);
    stop.abort(new Error("enough"));
    await expect(spinning).rejects.toThrow("enough");
    expect(await next).toBe(10);
    await expect(started.ask({ kind: "double", value: 5 }, { signal: stop.signal })).rejects.toThrow("enough");
  });

  it.each([
    ["exits", { kind: "exit" }, "exit code 7"],
    ["throws outside of a task", { kind: "crash" }, "struck by lightning"],
    ["runs out of memory", { kind: "heap" }, "memory limit"],
  ] as const)("rejects all tasks where the thread %s, and those that come after", async (_, task, message) => {
    const { started, ends } = thread({ heapMb: 32 });
    const tasks = [started.ask(task), started.ask({ kind: "double", value: 1 })];
    for (const one of await Promise.allSettled(tasks)) expect(one).toMatchObject({ reason: { kind: "crashed" } });
    await expect(tasks[0]).rejects.toThrow(message);
    await expect(started.ask({ kind: "double", value: 1 })).rejects.toMatchObject({ kind: "crashed" });
    expect(ends).toEqual(["crashed"]);
  });

  it("ends the thread over a task that takes longer than it may", async () => {
    const { started, ends } = thread();
    await expect(started.ask({ kind: "hang" }, { limitMs: 100 })).rejects.toMatchObject({ kind: "late" });
    expect(ends).toEqual(["late"]);
  });

  it("ends a thread that does not start in time", async () => {
    const deaf = join(folder, "deaf.mjs") as `/${string}`;
    writeFileSync(deaf, "setInterval(() => undefined, 1000);");
    const { started } = thread({ file: deaf, startLimitMs: 100 });
    await expect(started.ask({ kind: "double", value: 1 })).rejects.toMatchObject({ kind: "not-started" });
  });

  it("lets its process end when no task is under way, and not before", async () => {
    const script = `import { WorkerThread } from ${JSON.stringify(join(folder, "workerThread.mjs"))};
      const thread = new WorkerThread({ file: ${JSON.stringify(file)} });
      console.log(await thread.ask({ kind: "double", value: 21 }));`;
    const parent = join(folder, "parent.mjs");
    writeFileSync(parent, script);
    const child = spawn(process.execPath, [parent], { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += String(chunk);
    });
    expect(await once(child, "close")).toEqual([0, null]);
    expect(text).toBe("42\n");
  });
});

describe("ResidentThread", () => {
  const resident = (restartAfterMs?: number) => {
    let ends = 0;
    const one = new ResidentThread<TestTask, number>({ file, ...(restartAfterMs === undefined ? {} : { restartAfterMs }) }, () => {
      ends += 1;
    });
    onTestFinished(() => one.close());
    return { one, ends: () => ends };
  };

  it("starts a new thread after a crash, and says that what the old one held is lost", async () => {
    const { one, ends } = resident();
    expect(await one.ask({ kind: "double", value: 1 })).toBe(2);
    await expect(one.ask({ kind: "exit" })).rejects.toMatchObject({ kind: "crashed" });
    expect(await one.ask({ kind: "double", value: 2 })).toBe(4);
    expect(ends()).toBe(1);
  });

  it("waits between two starts if a delay is set, and starts none after it is closed", async () => {
    const { one } = resident(60_000);
    await expect(one.ask({ kind: "exit" })).rejects.toMatchObject({ kind: "crashed" });
    await expect(one.ask({ kind: "double", value: 2 })).rejects.toMatchObject({ kind: "not-started" });
    await one.close();
    await expect(one.ask({ kind: "double", value: 2 })).rejects.toMatchObject({ kind: "closed" });
  });
});

describe("TaskThreads", () => {
  const threads = new TaskThreads<TestTask, number, number>({ file, atOnce: 1 });

  it("gives each task a thread of its own, so many at once", async () => {
    const stop = new AbortController();
    const [hanging, waiting] = [
      threads.run({ kind: "hang" }, { signal: stop.signal }),
      threads.run({ kind: "double", value: 3 }, { signal: never }),
    ];
    stop.abort(new Error("enough"));
    await expect(hanging).rejects.toThrow("enough");
    expect(await waiting).toBe(6);
  });

  it("streams what a task says and then its answer", async () => {
    const all: number[] = [];
    for await (const one of threads.stream({ kind: "count", to: 3 }, never)) all.push(one);
    expect(all).toEqual([1, 2, 3, 3]);
  });

  it("throws what the task throws to whoever streams it, and ends the thread of a stream that nobody reads on", async () => {
    await expect(threads.stream({ kind: "throw" }, never).next()).rejects.toThrow("out of range");
    for await (const one of threads.stream({ kind: "count", to: 1e9 }, never)) if (one === 2) break;
    // The only place is free again.
    expect(await threads.run({ kind: "double", value: 7 }, { signal: never })).toBe(14);
  });
});
