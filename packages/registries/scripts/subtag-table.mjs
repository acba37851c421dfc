// The part of the IANA registry of language subtags that the check of a tag needs.

/** Of each kind of subtag: pairs of subtag (or range, `qaa..qtz`) and its first description; of extlang also the language that it goes with. */
export function subtagTable(records) {
  const rows = (type, row) => records.filter((record) => record.Type === type).map(row)
  const described = ({ Subtag, Description }) => [Subtag, Description[0]]
  return {
    language: rows('language', described),
    extlang: rows('extlang', ({ Subtag, Description, Prefix }) => [Subtag, Description[0], Prefix[0]]),
    script: rows('script', described),
    region: rows('region', described),
    variant: rows('variant', described),
    grandfathered: rows('grandfathered', ({ Tag, Description }) => [Tag, Description[0]]),
  }
}
