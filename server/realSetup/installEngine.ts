import type { AddonKeeper } from "@/server/addons/addonKeeper";
import { engineAddon } from "./realNames";
import { SetupFailure, type SetupStep } from "./setupStep";

export interface EngineParts {
  readonly addons: Pick<AddonKeeper, "state" | "install">;
}

/** Installs the engine where it is missing. */
export const installEngine =
  ({ addons }: EngineParts): SetupStep =>
  async ({ signal, say }) => {
    if (addons.state(engineAddon).kind !== "ready") say("Installing the engine");
    const state = await addons.install(engineAddon, { signal, onLine: (line) => say(line) });
    signal.throwIfAborted();
    if (state.kind === "failed") throw new SetupFailure(state.reason);
    if (state.kind === "unsupported") throw new SetupFailure(state.message);
    if (state.kind !== "ready") throw new SetupFailure("The engine was not installed: start again.");
    return `Engine ${state.version} is installed.`;
  };
