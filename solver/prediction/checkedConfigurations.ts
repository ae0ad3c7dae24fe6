import { z } from "zod";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { configurationSpace, spaceRefusal } from "@/solver/workflow/configurationSpace";
import { dimensions, encoder, floats, modelNames, wordSpace } from "./checkedParts";
import { READING_COUNTS } from "./promptReading";
import { TEXT_COUNTS } from "./textFeatures";

const reading = z
  .strictObject({ words: wordSpace.nullable(), encoder: encoder.nullable(), usual: floats, directions: floats, components: dimensions })
  .superRefine(({ words, encoder: by, usual, directions, components }, context) => {
    if ((words === null) === (by === null)) context.addIssue("does not say in one way what its heads read");
    const read = words === null ? by?.dimensions : READING_COUNTS + TEXT_COUNTS + words.dimensions;
    if (usual.length !== read || directions.length !== read * components)
      context.addIssue("has another number of means or directions than of features");
  });

const heads = z
  .strictObject({ features: dimensions, bias: floats, weights: floats })
  .refine(({ features, bias, weights }) => weights.length === bias.length * features, "has another number of weights than of features");

/** A predictor of accurate configurations, as it is read: it has a head for every configuration of its workflow but the largest models'. */
export const configurations = z
  .strictObject({
    kind: z.literal("configurations"),
    models: modelNames,
    workflow: workflowDocumentSchema,
    reading,
    heads,
    threshold: z.number().min(0).max(1),
  })
  .superRefine(({ models, workflow, reading: { components }, heads: bank }, context) => {
    const refusal = spaceRefusal(workflow, models);
    if (refusal !== null) return context.addIssue(`has no configurations: ${refusal}`);
    const { size } = configurationSpace(workflow, models);
    if (size < 2) context.addIssue("has nothing to choose: its workflow has one configuration");
    if (bank.bias.length !== size - 1) context.addIssue(`has ${bank.bias.length} heads for ${size} configurations`);
    if (bank.features !== components) context.addIssue("has heads that read other features than are made");
  });
