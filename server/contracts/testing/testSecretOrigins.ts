import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import type { KeyReference } from "../engine/engineAccess";
import { secretOrigins } from "../engine/secretOrigins";

/** Enters keys for the origins of addresses, as an operator does. Returns what ends that. */
export function enterTestKeys(uses: readonly { readonly key: KeyReference; readonly url: string }[]): () => void {
  const folder = mkdtempSync(join(tmpdir(), "weir-origins-"));
  vi.stubEnv("WEIR_SECRET_ORIGINS", join(folder, "origins.json"));
  secretOrigins.allow(uses.map(({ key, url }) => ({ key, origin: new URL(url).origin })));
  return () => {
    vi.stubEnv("WEIR_SECRET_ORIGINS", undefined);
    rmSync(folder, { recursive: true });
  };
}
