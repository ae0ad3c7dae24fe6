import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { clusterConnectionSchema } from "@/server/fleet/connection";
import { connectionExamples } from "./connectionExamples";

describe("the connections to begin with", () => {
  it.each(Object.entries(connectionExamples))("that of %s is one as it stands", (kind, { text }) => {
    const read = clusterConnectionSchema.safeParse(parse(text));
    expect(read.error?.issues ?? []).toEqual([]);
    expect(read.data?.kind).toBe(kind);
  });

  it.each(Object.entries(connectionExamples))("that of %s is one with every comment that is YAML taken in, too", (_, { text }) => {
    const whole = text.replaceAll(/^# (?=[a-z]+: )/gm, "");
    expect(whole).not.toBe(text);
    expect(clusterConnectionSchema.safeParse(parse(whole)).error?.issues ?? []).toEqual([]);
  });
});
