// `npm run docs:reference`: writes the reference pages, schemas and OpenAPI documents from the declarations in the code.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { bundleOf } from "./bundle.mjs";
import { ensureInstalled, root } from "./prepare.mjs";

ensureInstalled();
await bundleOf({ docsReference: "scripts/reference/write.ts" });
process.exit(spawnSync(process.execPath, [join(root, "dist", "docsReference.mjs")], { cwd: root, stdio: "inherit" }).status ?? 1);
