// `npm run bench [-- name]`: runs the benchmarks, prints their figures next to their budgets and writes bench/results/<date>.json.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { checkNode, ensureBundled, ensureInstalled, root } from "./prepare.mjs";

checkNode();
ensureInstalled();
await ensureBundled();
process.env.WEIR_ROOT ??= root;
await import(pathToFileURL(join(root, "dist", "bench.mjs")).href);
