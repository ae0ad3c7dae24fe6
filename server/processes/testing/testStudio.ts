import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { testEngines } from "./testEngines";

/** The side effects of a start, in any order. */
const acts = {
  "node:fs": ["mkdirSync", "openSync", "writeFileSync", "fsyncSync", "closeSync", "renameSync", "rmSync"],
  "node:child_process": ["spawn"],
} as const;

/** Makes the bundle kill itself, without a clean shutdown, after `DIE_AFTER` acts. */
const killable: Plugin = {
  name: "killable",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:(fs|child_process)$/ }, ({ path, namespace }) =>
      namespace === "counted" ? { path, external: true } : { path, namespace: "counted" },
    );
    onLoad({ filter: /.*/, namespace: "counted" }, ({ path }) => ({
      contents: `import * as real from "${path}"; export * from "${path}";
        const counted = (act) => (...words) => {
          const result = act(...words);
          globalThis.acts = (globalThis.acts ?? 0) + 1;
          if (globalThis.acts === Number(process.env.DIE_AFTER)) process.kill(process.pid, "SIGKILL");
          return result;
        };
        ${acts[path as keyof typeof acts].map((name) => `export const ${name} = counted(real.${name});`).join("\n")}`,
    }));
  },
};

export interface TestStudio {
  /**
   * Starts these engines as a studio does, prints each answer as a line, and then waits.
   * @param dieAfter acts; absent: never.
   */
  run(orders: readonly EngineOrder[], dieAfter?: number): ChildProcess;
}

/** A process that starts engines and may be killed at any act. */
export async function testStudio(engines: ReturnType<typeof testEngines>): Promise<TestStudio> {
  const outfile = join(engines.home, "studio.mjs");
  const contents = `
    import { gpuCards } from "@/solver/hardware/gpus";
    import { createProcessHost } from "../processHost";
    const { connection, folder, orders } = JSON.parse(process.argv[2]);
    const limits = { settleMs: 300 };
    const host = createProcessHost(connection, { folder, gpuCards: () => gpuCards, environment: process.env, nvidiaSmi: "none", limits });
    for (const order of orders) console.log(JSON.stringify(await host.start(order, { signal: new AbortController().signal, report() {} })));
    setInterval(() => {}, 1000);`;
  const alias = { "@/server": join(process.cwd(), "server"), "@/solver": join(process.cwd(), "solver") };
  const stdin = { contents, resolveDir: import.meta.dirname, loader: "ts" } as const;
  // Bundled code written for CommonJS requires Node's own modules.
  const banner = { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' };
  await build({ stdin, outfile, alias, banner, bundle: true, platform: "node", format: "esm", plugins: [killable], logLevel: "silent" });
  return {
    run(orders, dieAfter) {
      const told = JSON.stringify({ connection: engines.connection(), folder: engines.folder, orders });
      const env = { ...process.env, ...(dieAfter === undefined ? {} : { DIE_AFTER: `${dieAfter}` }) };
      return spawn(process.execPath, [outfile, told], { stdio: ["ignore", "pipe", "inherit"], env });
    },
  };
}

/** The first lines that a studio prints, or fewer if it dies before. */
export async function linesOf(studio: ChildProcess, count: number): Promise<readonly string[]> {
  let told = "";
  for await (const part of studio.stdout ?? []) {
    told += part;
    if (told.split("\n").length > count) break;
  }
  return told.split("\n").slice(0, -1);
}
