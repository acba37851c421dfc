/** Parameters of the entries under which definitions are looked up begin with this; no code of a search parameter does. */
export const DEFINITION_PARAM = 'definition:'

/** Whether a resource with this entry is a definition. */
export function isDefinitionEntry({ param }: { readonly param: string }): boolean {
  return param.startsWith(DEFINITION_PARAM)
}
