import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openStore, type Store } from "@/server/store/store";
import { admitPerson } from "./admitPerson";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-admit-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

it("gives nobody a name that the audit has for something other than a person", () => {
  const settings = { roleOfGroup: new Map(), defaultRole: "viewer" } as const;
  const names = ["Studio", "gateway", "weir", "Command  line", "nobody", "several", "unknown", "token ci of Ada", "local admin"];
  for (const [index, name] of names.entries()) {
    const identity = { issuer: "https://id.example.com", subject: `s${index}`, groups: [], names: [name] };
    expect(admitPerson({ store, settings, endStreams: () => undefined }, identity)).toMatchObject({ ok: true });
    expect(store.users.bySubject(identity.issuer, identity.subject)?.name).toBe(identity.subject);
  }
});
