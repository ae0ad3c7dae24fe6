import { z } from "zod";
import { permissions, roles } from "@/server/auth/roles";
import { keyLabelsSchema, keyLimitsSchema, keyModelsSchema } from "@/server/contracts/gateway/gatewayKeys";
import type { Permission } from "@/server/contracts/studio";
import { byCluster } from "../base/inputs";
import { procedureFor, router } from "./trpc";

const byId = z.object({ id: z.uuid() });
const role = z.enum(roles);
export const permissionSchema = z.object({ permission: z.enum(Object.keys(permissions) as [Permission, ...Permission[]]) });
const label = z.string().trim().min(1, "give it a label").max(80, "give a label of at most 80 characters");
const days = z.int().min(1, "give at least one day").max(366, "give at most 366 days");
const tokenSchema = z.object({ label, role, days });
const requestsPerMinute = z
  .int("a rate is a whole number")
  .min(1, "allow at least one request a minute")
  .max(1_000_000, "allow at most 1,000,000 requests a minute");
const keyTerms = {
  requestsPerMinute: requestsPerMinute.nullable(),
  limits: keyLimitsSchema.nullable().default(null),
  models: keyModelsSchema.nullable().default(null),
  labels: keyLabelsSchema.nullable().default(null),
  objective: z.string().min(1).nullable().default(null),
};
const keySchema = byCluster.extend({ label, days: days.nullable(), ...keyTerms });
const namedKey = byCluster.extend({ name: z.string().min(1) });
export const keyUsageSchema = byCluster.extend({ from: z.iso.date(), to: z.iso.date() });

export const peopleRouter = router({
  list: procedureFor("manage").query(({ ctx }) => ctx.services.people.list()),
  setRole: procedureFor("manage")
    .input(byId.extend({ role }))
    .mutation(({ ctx, input }) => ctx.services.people.setRole(input.id, input.role, ctx.caller)),
  setDisabled: procedureFor("manage")
    .input(byId.extend({ disabled: z.boolean() }))
    .mutation(({ ctx, input }) => ctx.services.people.setDisabled(input.id, input.disabled, ctx.caller)),
  sessions: procedureFor("manage").query(({ ctx }) => ctx.services.people.sessions(ctx.caller)),
  endSession: procedureFor("manage")
    .input(byId)
    .mutation(({ ctx, input }) => ctx.services.people.endSession(input.id, ctx.caller)),
  endOtherSessions: procedureFor("manage").mutation(({ ctx }) => ctx.services.people.endOtherSessions(ctx.caller)),
  tokens: procedureFor("manage").query(({ ctx }) => ctx.services.people.tokens()),
  createToken: procedureFor("manage")
    .input(tokenSchema)
    .mutation(({ ctx, input }) => ctx.services.people.createToken(input, ctx.caller)),
  revokeToken: procedureFor("manage")
    .input(byId)
    .mutation(({ ctx, input }) => ctx.services.people.revokeToken(input.id, ctx.caller)),
  fourEyes: procedureFor("read").query(({ ctx }) => ctx.services.people.fourEyes()),
  setFourEyes: procedureFor("manage")
    .input(z.object({ on: z.boolean() }))
    .mutation(({ ctx, input }) => ctx.services.people.setFourEyes(input.on, ctx.caller)),
});

/** Keys of the clients of clusters' gateways. */
export const gatewayKeysRouter = router({
  list: procedureFor("manage")
    .input(byCluster)
    .query(({ ctx, input }) => ctx.services.gatewayKeys.list(input.clusterId)),
  create: procedureFor("manage")
    .input(keySchema)
    .mutation(({ ctx, input }) => ctx.services.gatewayKeys.create(input, ctx.caller.name)),
  revoke: procedureFor("manage")
    .input(namedKey)
    .mutation(({ ctx, input }) => ctx.services.gatewayKeys.revoke(input, ctx.caller.name)),
  usage: procedureFor("manage")
    .input(keyUsageSchema)
    .query(({ ctx, input: { clusterId, ...range } }) => ctx.services.gatewayKeys.usage(clusterId, range)),
  setTerms: procedureFor("manage")
    .input(namedKey.extend(keyTerms))
    .mutation(({ ctx, input }) => ctx.services.gatewayKeys.setTerms(input, ctx.caller.name)),
  setExpiry: procedureFor("manage")
    .input(namedKey.extend({ days: days.nullable() }))
    .mutation(({ ctx, input }) => ctx.services.gatewayKeys.setExpiry(input, ctx.caller.name)),
});
