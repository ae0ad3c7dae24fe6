import type { Command } from "commander";
import { mintSignInLink } from "@/server/auth/signIn";
import { studioSettings } from "@/server/lib/studioSettings";
import { openStore } from "@/server/store/store";
import { EXIT, type ExitCode } from "./exitCodes";

/** `weir sign-in`: another one-time link, for whoever may read the state folder. */
export function addSignInCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command("sign-in")
    .description("print a sign-in link to the studio on this machine; it works once, for an hour")
    .action(() => {
      const { stateDir, studioUrl } = studioSettings(process.env);
      const store = openStore(stateDir);
      process.stdout.write(`${mintSignInLink(store, studioUrl)}\n`);
      store.close();
      onExit(EXIT.done);
    });
}
