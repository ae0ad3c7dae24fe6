import { serveTasks, type TaskRun } from "../serveTasks";

export type TestTask =
  | { readonly kind: "double"; readonly value: number }
  | { readonly kind: "count"; readonly to: number }
  | { readonly kind: "throw" }
  | { readonly kind: "exit" }
  | { readonly kind: "crash" }
  | { readonly kind: "hang" }
  | { readonly kind: "untilCancelled" }
  | { readonly kind: "heap" };

/** Entry of a thread that does what the tests of threads ask for. */
serveTasks(async (task: TestTask, { say, cancelled }: TaskRun<number>): Promise<number> => {
  switch (task.kind) {
    case "double":
      return task.value * 2;
    case "count":
      for (let at = 1; at <= task.to; at += 1) await say(at);
      return task.to;
    case "throw":
      throw new RangeError("out of range");
    case "exit":
      return process.exit(7);
    case "crash":
      setImmediate(() => {
        throw new Error("struck by lightning");
      });
      return new Promise(() => undefined);
    case "hang":
      for (;;) if (task === null) return 0;
    case "untilCancelled": {
      let rounds = 0;
      while (!cancelled()) rounds += 1;
      return rounds;
    }
    case "heap": {
      const all: number[][] = [];
      for (;;) all.push(new Array(1e6).fill(all.length));
    }
  }
});
