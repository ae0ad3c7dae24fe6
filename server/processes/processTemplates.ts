import { join } from "node:path";
import { addonsFolder } from "@/server/addons/addonFolder";
import { type CommandTemplate, commandTemplates } from "@/server/engines/commandLine";

/** The folder of the installation, in which `dist` lies. */
const rootOf = (environment: Readonly<Record<string, string | undefined>>): string => environment.WEIR_ROOT ?? process.cwd();

/** Weir's real engine for processors (the add-on `real-engine`), run by the Node that runs the studio. */
const weirTemplate = (environment: Readonly<Record<string, string | undefined>>): CommandTemplate => [
  ...[process.execPath, join(/* turbopackIgnore: true */ rootOf(environment), "dist", "engine.mjs"), "--addons", addonsFolder(environment)],
  ...["--model", "{source}", "--alias", "{servedName}", "--host", "{host}", "--port", "{port}", "{args}"],
];

/** The command lines of engines that are built in for processes of this host, by name. */
export function processTemplates(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Readonly<Record<string, CommandTemplate>> {
  return { ...commandTemplates, weir: weirTemplate(environment) };
}
