import { TRPCError } from "@trpc/server";
import { z } from "zod";
import { auditFilterSchema } from "@/server/contracts/studio/audit";
import { procedureFor, router } from "./trpc";

const pageSchema = z.object({
  filter: auditFilterSchema,
  /** `next` of the page before; null: the newest lines. */
  cursor: z.string().max(100).nullable(),
  limit: z.int().min(1).max(200),
});

export const auditRouter = router({
  /** The newest lines. */
  list: procedureFor("audit")
    .input(z.object({ limit: z.int().min(1).max(1000) }))
    .query(({ ctx, input }) => ctx.services.audit.list(input.limit)),
  /** One page of the lines that a filter asks for, newest first. */
  page: procedureFor("audit")
    .input(pageSchema)
    .query(({ ctx, input }) => {
      const page = ctx.services.audit.page(input.filter, input.cursor, input.limit);
      if (page === null)
        throw new TRPCError({ code: "BAD_REQUEST", message: "The cursor is not valid: start again with the newest lines." });
      return page;
    }),
  /** Whom and which acts it has, and its end. */
  overview: procedureFor("audit").query(({ ctx }) => ctx.services.audit.overview()),
});
