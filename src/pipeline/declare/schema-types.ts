// Types that the schemas of every Zod 4.x satisfy. Zod's own types are incompatible between minor
// versions, and a user may have another version than ours (test/package/guide.test.ts).

/** Any Zod 4 schema. */
export interface ZodSchema {
  readonly _zod: { readonly input: any; readonly output: any };
}

/** A z.object of Zod 4 with this shape. */
export interface ZodObjectOf<Shape = any> extends ZodSchema {
  readonly _zod: ZodSchema['_zod'] & { readonly def: { readonly type: 'object'; readonly shape: Shape } };
}
