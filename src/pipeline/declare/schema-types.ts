// Schemas of Zod 4 as types that every 4.x fits. Zod's own types refuse each other's from one minor version to the next, and a
// user may well have another one than ours (test/package/guide.test.ts).

/** Any schema. */
export interface ZodSchema {
  readonly _zod: { readonly input: any; readonly output: any };
}

/** A z.object, with this shape. */
export interface ZodObjectOf<Shape = any> extends ZodSchema {
  readonly _zod: ZodSchema['_zod'] & { readonly def: { readonly type: 'object'; readonly shape: Shape } };
}
