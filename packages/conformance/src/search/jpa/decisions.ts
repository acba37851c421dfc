/** A search that is answered differently. */
export interface Difference {
  /** The search, decoded. */
  readonly search: string
  readonly ours: string
  readonly theirs: string
}

/** The reason why two answers differ, and which one is right by R4's page on search; numbers are those of its sections. */
export interface Decision {
  readonly name: string
  readonly right: 'ours' | 'both'
  readonly why: string
  readonly explains: (difference: Difference) => boolean
}

const REFUSED = /^[45]\d\d$/

const searching =
  (pattern: RegExp): Decision['explains'] =>
  ({ search }) =>
    pattern.test(search)

/** Whether a search is of this form, and the answers differ in these ids only. */
const about =
  (form: RegExp, ids: RegExp): Decision['explains'] =>
  ({ search, ours, theirs }) => {
    const [mine, other] = [ours.split(' '), theirs.split(' ')]
    const differing = [...mine.filter((id) => !other.includes(id)), ...other.filter((id) => !mine.includes(id))].filter((id) => id !== '')
    return form.test(search) && differing.length > 0 && differing.every((id) => ids.test(id))
  }

/** The decisions; the first that explains a difference is the reason. */
export const DECISIONS: readonly Decision[] = [
  {
    name: 'status of a refusal',
    right: 'both',
    why: 'Both refuse it; R4 leaves open with which status.',
    explains: ({ ours, theirs }) => REFUSED.test(theirs) && REFUSED.test(ours),
  },
  {
    name: 'refused by HAPI',
    right: 'ours',
    why: 'R4 defines it: :identifier, :above and :below of references, ap of dates, sa and eb of quantities, lists of dates, modifiers after _has, chains over part-of, compartments, contained resources, a system alone in _tag.',
    explains: ({ theirs }) => REFUSED.test(theirs),
  },
  {
    name: '_filter',
    right: 'both',
    why: 'A server need not know it (search_filter); here it is refused by name.',
    explains: searching(/\?_filter=/),
  },
  {
    name: 'modifiers that are not defined',
    right: 'ours',
    why: 'A server shall reject a modifier that it does not support (3.1.1.4.4). HAPI ignores it, answers :not of a uri as if it were not there, and reads :contains of a uri as R5 does.',
    explains: (difference) => difference.ours === '400' && searching(/:(?:startswith|not|exact|contains|ofType|missing|asc)=/)(difference),
  },
  {
    name: 'values without meaning',
    right: 'ours',
    why: 'What cannot be read is refused here, and so is an unknown parameter: a condition that is ignored gives another result than was asked for. HAPI ignores empty values, further parts and words that it does not know; for a reference of another type than that of the modifier it finds nothing.',
    explains: ({ ours }) => ours === '400' || ours === '412',
  },
  {
    name: 'code systems that are not known',
    right: 'ours',
    why: 'Without the code system it is unknown what is below or above a code; HAPI finds nothing.',
    explains: ({ ours }) => ours === '422',
  },
  {
    name: 'precision of numbers',
    right: 'ours',
    why: 'In eq and ne a number stands for all that round to it (3.1.1.4.6: 100 is 99.5 up to 100.5; 1e2 has one digit, so 50 up to 150, although the example there says 95 up to 105); HAPI compares decimals of the same value, and 0.849 is not less than 0.85 there.',
    explains: about(
      /(?:quantity|probability|factor-override)=(?:eq|ne|(?:lt|ge)0\.85$|[-\d]*\$?[-\d.])/,
      /^(?:q5\.35mg|q5\.45mg|q5\.4mg|q99\.6kg|q0\.0054g|derived|r\d.*|rboth|m1|m2)$/,
    ),
  },
  {
    name: 'precision and ranges of numbers',
    right: 'ours',
    why: 'A Range lies within the span of a number, or it does not (3.1.1.4.5), and overlaps it for ap; HAPI compares its bounds by themselves.',
    explains: about(/(?:probability|onset-age)=/, /^(?:r[\d.]+|rboth|rrange|c3)$/),
  },
  {
    name: 'comparators',
    right: 'ours',
    why: 'A Quantity with the comparator < may be any smaller value (3.1.1.4.11); HAPI takes it for the value.',
    explains: about(/value-quantity=/, /^(?:qless|qneg)$/),
  },
  {
    name: 'texts of units',
    right: 'ours',
    why: 'A search without a system matches the code or the text of the unit (3.1.1.4.11); HAPI compares the code.',
    explains: about(/quantity=/, /^(?:q100lb|q5\.45mg|derived|m2)$/),
  },
  {
    name: 'ge and le of months and years',
    right: 'ours',
    why: 'ge and le match what lies within the searched span (3.1.1.4.5): 25 December 1974 is ge1974 and le1974. HAPI finds neither, and compares a month or a year that is stored by its first day or its last.',
    explains: searching(/(?:date|occurrence)=(?:ge|le)\d{4}(?:-\d\d)?$|birthdate=ge1980-02-29$/),
  },
  {
    name: 'periods that reach into the searched day',
    right: 'ours',
    why: 'le matches what begins before the searched day or lies within it, ge what ends after it or lies within it (3.1.1.4.5); HAPI also finds a Period that begins on the day of le and continues, or ends on the day of ge.',
    explains: about(/(?:date|occurrence)=(?:le|ge)\d{4}-\d\d-\d\d$/, /^(?:t-opened|t-period|t-closed|s1|s3)$/),
  },
  {
    name: 'Timing without an end',
    right: 'ours',
    why: 'The outer limits of a Timing count (3.1.1.4.7), and bounds without an end are open; HAPI takes the start for all.',
    explains: about(/occurrence=/, /^s[123]$/),
  },
  {
    name: 'days in time zones',
    right: 'both',
    why: 'R4 asks to correct for zones where possible, and not to consider them for days (3.1.1.4.7). Here a day is one of UTC; HAPI compares the day that a dateTime is written with, whatever its zone.',
    explains: about(/date=/, /^t-zone$/),
  },
  {
    name: 'precision of times',
    right: 'ours',
    why: 'A time that is stored without fractions is a whole second (3.1.1.4.7); HAPI takes its beginning.',
    explains: about(/date=/, /^t-minute$/),
  },
  {
    name: 'blanks',
    right: 'ours',
    why: 'Repeated blanks should be ignored (3.1.1.4.8), here they count as one; HAPI compares them.',
    explains: searching(/(?:name|family|given)(?::contains)?=(?:van {2}der|Dee Dee)$/),
  },
  {
    name: 'texts of addresses',
    right: 'ours',
    why: 'R4 lists the text of an Address among what address searches; HAPI leaves it out.',
    explains: searching(/address(?::contains)?=(?:by the|lake)$/),
  },
  {
    name: 'escapes and wildcards',
    right: 'ours',
    why: 'A backslash escapes a backslash (3.1.1.4.19), and an underscore is itself; HAPI hands both on to SQL.',
    explains: searching(/Organization\?name(?::contains)?=(?:_|Clinic.*\\\\)/),
  },
  {
    name: 'sounds',
    right: 'ours',
    why: 'phonetic finds by sound; HAPI compares the text unless it is set up otherwise.',
    explains: searching(/\?phonetic/),
  },
  {
    name: 'identifiers without value',
    right: 'ours',
    why: 'A system with a bar matches any element with that system (3.1.1.4.10); HAPI has no entry for an Identifier without value.',
    explains: about(/identifier(?::not)?=http:\/\/ids\/mrn\|$/, /^eli$/),
  },
  {
    name: 'blanks around codes',
    right: 'ours',
    why: 'A code is compared as it is; HAPI trims what is searched.',
    explains: searching(/= 2345$/),
  },
  {
    name: 'texts of tokens',
    right: 'ours',
    why: ':text finds the text of an Identifier type and the display of a tag, too (3.1.1.4.10); HAPI does not index them.',
    explains: searching(/(?:identifier|_tag):text=/),
  },
  {
    name: 'use of a ContactPoint',
    right: 'both',
    why: 'By the table of types the use of a ContactPoint is its system in a search, and by a note there the bar shall not be used (3.1.1.4.10). Here the use is found; HAPI knows phone and email only.',
    explains: searching(/(?:telecom|phone|email)=(?:home|work)\|/),
  },
  {
    name: 'presence without code or address',
    right: 'ours',
    why: 'A concept that is only a text, and a Reference that is only an identifier or a display, or leads into the resource, are values (3.1.1.4.4); HAPI says that they are missing.',
    explains: about(/:missing=/, /^(?:texted|inside|named|eli|cyd)$/),
  },
  {
    name: 'presence of what all resources have',
    right: 'ours',
    why: 'The answers to :missing of tuples, _id, _lastUpdated, _tag, _profile and _security are empty, or everything, in HAPI.',
    explains: searching(/(?:-value-(?:quantity|concept)|_id|_lastUpdated|_tag|_profile|_security):missing=/),
  },
  {
    name: 'addresses with the type as modifier',
    right: 'ours',
    why: 'An absolute URL of this server is the same reference as the relative one (3.1.1.4.12); HAPI finds it only without the modifier.',
    explains: searching(/:(?:Patient|Organization)=http:/),
  },
  {
    name: 'chains to what all resources have',
    right: 'ours',
    why: 'A chain may end in _id, _profile and _lastUpdated (3.1.1.4.15). HAPI finds nothing for _id since it was asked to search contained resources as well.',
    explains: searching(/(?:patient|subject)\._/),
  },
  {
    name: 'chains with :not and :missing',
    right: 'ours',
    why: 'The condition is one on the resource that the reference leads to (3.1.1.4.15); HAPI also finds what refers to nothing.',
    explains: searching(/(?:patient|subject:Patient)\.(?:gender:not|active:missing)=/),
  },
  {
    name: 'versions and parents of uris',
    right: 'ours',
    why: 'A version follows the bar of a canonical, :below continues a URI at a slash, and neither :below nor :above is for URNs (3.1.1.4.9); HAPI compares beginnings of texts.',
    explains: searching(/ValueSet\?url(?::below|:above)?=/),
  },
  {
    name: 'versions and parents of profiles',
    right: 'ours',
    why: 'A canonical without a version names all its versions (3.1.1.4.13), and :above finds parents (3.1.1.4.9); HAPI compares the text.',
    explains: searching(/_profile(?::above)?=/),
  },
  {
    name: 'tuples of different components',
    right: 'ours',
    why: 'The components of a tuple belong to the same element (3.1.1.4.17); HAPI compares each with the whole resource.',
    explains: searching(
      /(?:component|combo)-code-value-(?:quantity|concept)=8480-6\$|characteristic-value=gender\$old|context-type-value=age\$sky/,
    ),
  },
  {
    name: '_id with :not',
    right: 'ours',
    why: ':not finds all other resources (3.1.1.4.10); HAPI finds nothing if the id is that of no resource.',
    explains: searching(/_id:not=/),
  },
  {
    name: 'systems of tags and labels',
    right: 'ours',
    why: 'A code belongs to its system, and a bar before it means that there is none (3.1.1.4.10); HAPI ignores that in tags and labels.',
    explains: searching(/_(?:tag|security)(?::not)?=/),
  },
  {
    name: 'order of equal rank',
    right: 'both',
    why: 'R4 leaves open by what a Period, a code or a reference is sorted (3.1.1.5.1). Here: downwards by the end of a Period, codes without their system, references by type and id; HAPI: by the start, by the system first, and by its own numbers.',
    explains: searching(/_sort=/),
  },
  {
    name: '_total=none',
    right: 'both',
    why: 'A server may give a total that was not asked for (3.1.1.5.2).',
    explains: searching(/_total=none/),
  },
  {
    name: '_contained',
    right: 'ours',
    why: '_contained=true finds contained resources only (3.1.1.5.5); HAPI applies it to chains.',
    explains: searching(/_contained=true/),
  },
  {
    name: 'id of a conditional update',
    right: 'ours',
    why: 'If nothing matches and the resource has an id, it is stored there (http.html#cond-update); HAPI assigns one.',
    explains: searching(/ids\/put\|8$|_id=chosen/),
  },
]
