import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { referenceFiles } from "./reference";

const root = process.cwd();
for (const [path, text] of await referenceFiles(root)) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  process.stderr.write(`${path} (${text.length} characters)\n`);
}
process.exit();
