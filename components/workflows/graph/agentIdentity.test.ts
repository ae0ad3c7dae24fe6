import fc from "fast-check";
import { expect, it } from "vitest";
import { agentText, identifyAgents } from "./agentIdentity";

it("gives agents of one application hues of their own, whatever the order in which they come", () => {
  const keys = fc
    .uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 8 })
    .map((names) => names.map((name) => `app/${name}`));
  fc.assert(
    fc.property(keys, (of) => {
      const identities = identifyAgents(of);
      expect(new Set([...identities.values()].map(({ hue }) => hue)).size).toBe(of.length);
      expect(identifyAgents(of.toReversed())).toEqual(identities);
    }),
  );
  expect([agentText("report/writer"), agentText("report/"), agentText(null)]).toEqual(["writer of report", "unnamed of report", "unnamed"]);
});
