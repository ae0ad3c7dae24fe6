// `npm run weir -- ...`: installs and bundles whatever is missing or stale, then runs the command line in this process.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { checkNode, ensureBundled, ensureInstalled, root } from "./prepare.mjs";

checkNode();
ensureInstalled();
await ensureBundled();
process.env.WEIR_ROOT ??= root;
await import(pathToFileURL(join(root, "dist", "weir.mjs")).href);
