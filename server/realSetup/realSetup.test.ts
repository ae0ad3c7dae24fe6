import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { profileInUse } from "@/server/calibration/profileInUse";
import type { RealSetup, RealSetupStepName } from "@/server/contracts/studio";
import { realSetupSteps } from "@/server/contracts/studio/realSetup";
import { openStore, type Store } from "@/server/store/store";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import { createRealSetup } from "./realSetup";
import { SetupFailure, type SetupStep } from "./setupStep";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-setup-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const order = { questions: 400 };
const done: SetupStep = async () => "Done.";
/** Works until it is stopped. */
const waits: SetupStep = ({ signal, say }) =>
  new Promise((_, reject) => {
    say("at work", 0.5);
    signal.addEventListener("abort", () => reject(signal.reason));
  });

type Parts = Parameters<typeof createRealSetup>[0];
type Addons = Parts["addons"];
const addonsIn = (state: ReturnType<Addons["list"]>[number]["state"]): Addons => ({
  list: () => [{ name: "real-engine", title: "", description: "", bytes: 85e6, state }],
});

function setupWith(
  steps: Partial<Record<RealSetupStepName, SetupStep>>,
  addons = addonsIn({ kind: "absent" }),
  more: Partial<Pick<Parts, "fleet" | "detach" | "putInUse" | "obstacle">> = {},
) {
  const all = Object.fromEntries(realSetupSteps.map((name) => [name, steps[name] ?? done])) as Record<RealSetupStepName, SetupStep>;
  const usual = {
    ...{ fleet: { get: () => null }, detach: async () => ({ ok: true }) as const, obstacle: () => null },
    putInUse(profileId: string, actor: string) {
      store.calibrations.use({ profileId, at: "2026-01-01T00:00:00Z", actor });
      return { ok: true } as const;
    },
  };
  return createRealSetup({ store, addons, steps: all, ...usual, ...more });
}
type Setup = ReturnType<typeof setupWith>;

const reaches = (setup: Setup, state: RealSetup["state"]): Promise<RealSetup> =>
  vi.waitFor(() => {
    const now = setup.status();
    expect(now.state).toBe(state);
    return now;
  });
const stateOf = (setup: Setup, name: RealSetupStepName) => setup.status().steps.find((step) => step.name === name);

test("runs every step in order and keeps what each has made", async () => {
  const ran: string[] = [];
  const tell =
    (name: string): SetupStep =>
    async ({ keep }) => {
      ran.push(name);
      if (name === "quality") keep({ workloadId: "w1" });
      return `${name} done`;
    };
  const setup = setupWith(Object.fromEntries(realSetupSteps.map((name) => [name, tell(name)])));
  expect(setup.start(order, "ada")).toEqual({ ok: true });
  await vi.waitFor(() => expect(store.realSetup.get()?.state).toBe("ready"));
  expect(ran).toEqual(realSetupSteps);
  expect(store.realSetup.get()).toMatchObject({ actor: "ada", workloadId: "w1" });
  expect(setup.status().steps.map(({ says }) => says)).toEqual(realSetupSteps.map((name) => `${name} done`));
});

test("a step that fails ends it with the step's sentence, and a new start goes on with what was made", async () => {
  let isBroken = true;
  const setup = setupWith({
    cluster: async ({ keep }) => {
      keep({ clusterId: "c1" });
      return "";
    },
    start: async () => {
      if (isBroken) throw new SetupFailure("No core is free for arith-large.");
      return "";
    },
  });
  setup.start(order, "ada");
  expect(await reaches(setup, "failed")).toMatchObject({ message: "No core is free for arith-large." });
  expect(stateOf(setup, "start")).toMatchObject({ state: "failed", says: "No core is free for arith-large." });
  expect(stateOf(setup, "quality")?.state).toBe("waiting");
  isBroken = false;
  setup.start(order, "bob");
  await vi.waitFor(() => expect(store.realSetup.get()).toMatchObject({ state: "ready", clusterId: "c1", actor: "bob", message: null }));
});

test("an error that is no refusal is shown with a way out, and the store stays usable", async () => {
  const setup = setupWith({ models: async () => Promise.reject(new Error("disk full")) });
  setup.start(order, "ada");
  expect((await reaches(setup, "failed")).message).toBe("The step failed: disk full. Start again; the studio's log may say more.");
});

test("can be stopped, which ends the step at work, and refuses a second start meanwhile", async () => {
  const setup = setupWith({ quality: waits });
  setup.start(order, "ada");
  await vi.waitFor(() => expect(stateOf(setup, "quality")).toMatchObject({ state: "running", says: "at work", progress: 0.5 }));
  expect(setup.start(order, "ada")).toMatchObject({ ok: false });
  expect(await setup.stop("ada")).toEqual({ ok: true });
  expect(setup.status().state).toBe("stopped");
  expect(stateOf(setup, "quality")).toMatchObject({ state: "stopped", progress: null });
  expect(await setup.stop("ada")).toMatchObject({ ok: false });
});

test("goes on after the studio was ended or killed in the middle", async () => {
  const first = setupWith({ speed: waits });
  first.start(order, "ada");
  await vi.waitFor(() => expect(stateOf(first, "speed")?.state).toBe("running"));
  await first.close();
  expect(store.realSetup.get()?.state).toBe("running");
  const second = setupWith({});
  await vi.waitFor(() => expect(store.realSetup.get()?.state).toBe("ready"));
  await second.close();
});

test("a reader hears every state to the last", async () => {
  const setup = setupWith({});
  const ending = new AbortController();
  const heard: string[] = [];
  const reading = (async () => {
    for await (const { steps } of setup.follow(ending.signal)) {
      heard.push(steps.map(({ state }) => state).join(" "));
      if (steps.every(({ state }) => state === "done")) ending.abort();
    }
  })();
  setup.start(order, "ada");
  await reading;
  expect(heard[0]).toMatch(/^waiting/);
  expect(heard.at(-1)).toBe("done done done done done done");
});

test("where no engine exists for the computer it says so and does not start", () => {
  const setup = setupWith({}, addonsIn({ kind: "unsupported", message: "There is no engine for openbsd on this processor." }));
  expect(setup.status()).toMatchObject({ state: "unsupported", message: "There is no engine for openbsd on this processor." });
  expect(setup.start(order, "ada")).toEqual({ ok: false, message: "There is no engine for openbsd on this processor." });
  expect(store.realSetup.get()).toBeNull();
});

test("removing forgets it, and is refused while it runs", async () => {
  const setup = setupWith({ speed: waits });
  setup.start(order, "ada");
  expect(await setup.remove("ada")).toMatchObject({ ok: false, message: "The set-up runs: stop it first." });
  await setup.stop("ada");
  expect(await setup.remove("ada")).toEqual({ ok: true });
  expect(setup.status().state).toBe("absent");
});

test("where engines cannot be processes it says so and does not start", () => {
  const setup = setupWith({}, addonsIn({ kind: "absent" }), { obstacle: () => "Use Linux or macOS." });
  expect(setup.status()).toMatchObject({ state: "unsupported", message: "Use Linux or macOS." });
  expect(setup.start(order, "ada")).toEqual({ ok: false, message: "Use Linux or macOS." });
});

/** A set-up whose cluster is attached, and what removing it does to the host. */
async function attachedSetup(observed: object, stopped: object = { ok: true, value: "" }) {
  const spec = { id: "c1", name: "Real models on this computer", kind: "processes", gpu: "cpu-core", usdPerGpuHour: 0 } as const;
  store.clusters.insert({ ...spec, nodes: [{ name: "here", gpus: 2 }] }, "2026-01-01T00:00:00Z", {
    connection: { kind: "processes" },
    gateway: null,
  });
  const acts: string[] = [];
  const host = {
    observe: async () => observed,
    async stop(id: string) {
      acts.push(`stop ${id}`);
      return stopped;
    },
  };
  const detach: Parts["detach"] = async (id) => {
    acts.push(`detach ${id}`);
    return { ok: true };
  };
  const cluster: SetupStep = async ({ keep }) => {
    keep({ clusterId: "c1" });
    return "";
  };
  const fleet = { get: () => ({ id: "c1", host }) } as unknown as Parts["fleet"];
  const setup = setupWith({ cluster }, undefined, { fleet, detach });
  setup.start(order, "ada");
  await reaches(setup, "ready");
  return { setup, acts };
}

test("removing ends the engines before it detaches the cluster", async () => {
  const { setup, acts } = await attachedSetup({ ok: true, value: { engines: [{ id: "small-0" }, { id: "large-0" }] } });
  expect(await setup.remove("ada")).toEqual({ ok: true });
  expect(acts).toEqual(["stop small-0", "stop large-0", "detach c1"]);
});

test("removing is refused, and the cluster stays attached, where its engines cannot be seen or ended", async () => {
  const unseen = await attachedSetup({ ok: false, message: "It does not answer." });
  expect(await unseen.setup.remove("ada")).toMatchObject({ ok: false, message: expect.stringContaining("It does not answer.") });
  expect(unseen.acts).toEqual([]);
  expect(unseen.setup.status().state).toBe("ready");
});

test("removing is refused where an engine does not end", async () => {
  const { setup, acts } = await attachedSetup(
    { ok: true, value: { engines: [{ id: "small-0" }] } },
    { ok: false, message: "small-0 cannot be killed." },
  );
  expect(await setup.remove("ada")).toEqual({ ok: false, message: "small-0 cannot be killed." });
  expect(acts).toEqual(["stop small-0"]);
  expect(store.realSetup.get()).not.toBeNull();
});

/** A profile of an operator, which plans use from now on. */
function useOwnProfile(id: string): void {
  const profile = { ...engineProfiles.vllm, id, name: `Profile ${id}` };
  store.calibrations.insert({ profile, createdAt: "2026-01-01T00:00:00Z", actor: "ada" });
  store.calibrations.use({ profileId: id, at: "2026-01-01T00:00:00Z", actor: "ada" });
}

/** A set-up that is ready and whose measured profile plans use in place of `mine`. */
async function measuredSetup(): Promise<Setup> {
  useOwnProfile("mine");
  const speed: SetupStep = async ({ keep }) => {
    useOwnProfile("measured");
    keep({ speedId: "measured", replaced: { id: "mine", by: "measured" } });
    return "";
  };
  const setup = setupWith({ speed });
  expect(setup.status()).toMatchObject({ replaces: "Profile mine", restores: null });
  setup.start(order, "ada");
  await vi.waitFor(() => expect(store.realSetup.get()?.state).toBe("ready"));
  return setup;
}

test("removing puts the profile from before the set-up back in use, and is announced with its name", async () => {
  const setup = await measuredSetup();
  expect(setup.status()).toMatchObject({ replaces: null, restores: "Profile mine" });
  expect(await setup.remove("ada")).toEqual({ ok: true });
  expect(profileInUse(store).id).toBe("mine");
  expect(store.calibrations.list().map(({ profile }) => profile.id)).toContain("measured");
});

test("removing leaves a profile in use that was chosen after the set-up", async () => {
  const setup = await measuredSetup();
  useOwnProfile("chosen since");
  expect(setup.status().restores).toBeNull();
  await setup.remove("ada");
  expect(profileInUse(store).id).toBe("chosen since");
});

test("removing leaves the measured profile in use where the one from before is gone", async () => {
  const setup = await measuredSetup();
  store.calibrations.remove("mine");
  expect(setup.status().restores).toBeNull();
  expect(await setup.remove("ada")).toEqual({ ok: true });
  expect(profileInUse(store).id).toBe("measured");
});
