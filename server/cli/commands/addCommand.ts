import type { Command } from "commander";
import { addonsFolder } from "@/server/addons/addonFolder";
import { type AddonKeeper, createAddonKeeper } from "@/server/addons/addonKeeper";
import type { AddonState } from "@/server/contracts/studio";
import { textTable } from "../describe/textTable";
import { EXIT, type ExitCode, refuse } from "../flags/exitCodes";

/** `weir add`: parts of Weir that are installed on request. */
export function addAddCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command("add")
    .description("install an add-on, such as a real engine for this computer's processor; without a name, list the add-ons")
    .argument("[name]", "as the list names it")
    .action(async (name?: string) => {
      const keeper = createAddonKeeper(addonsFolder(process.env));
      onExit(name === undefined ? list(keeper) : await install(keeper, name));
    });
}

function list(keeper: AddonKeeper): ExitCode {
  const rows = keeper.list().map(({ name, title, description, bytes, state }) => [name, title, stateText(state, bytes), description]);
  process.stdout.write(textTable([["name", "add-on", "state", "what it does"], ...rows]));
  return EXIT.done;
}

async function install(keeper: AddonKeeper, name: string): Promise<ExitCode> {
  if (!keeper.list().some((one) => one.name === name)) {
    const names = keeper.list().map((one) => one.name);
    return refuse(`There is no add-on "${name}": known are ${names.join(", ")}.`);
  }
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, onSignal);
  const state = await keeper.install(name, { signal: stop.signal, onLine: (line) => process.stderr.write(`${line}\n`) });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.removeListener(signal, onSignal);
  if (state.kind === "ready") {
    process.stdout.write(`${name} ${state.version} is ready.\n`);
    return EXIT.done;
  }
  return refuse(state.kind === "failed" ? state.reason : stateText(state, 0), EXIT.failed);
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

function stateText(state: AddonState, bytes: number): string {
  switch (state.kind) {
    case "ready":
      return `ready: ${state.version}, ${megabytes(state.bytes)}`;
    case "absent":
      return `absent (${megabytes(bytes)})`;
    case "installing":
      return "is being installed";
    case "unsupported":
      return state.message;
    case "failed":
      return state.reason;
  }
}
