import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/json'
import { findingsOf } from './findings-of.js'

const DIV = 'Patient.text.div'
const told = (content: string): JsonObject => ({
  resourceType: 'Patient',
  text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>` },
})

test.each<readonly [content: string, said: readonly string[]]>([
  ['<p>x</p>', []],
  ['<form>x</form>', [`error invariant ${DIV}`, `error narrative ${DIV}`]],
  ['<p onclick="x()">x</p>', [`error invariant ${DIV}`, `error narrative ${DIV}`]],
  ['<p>x &unknown;</p>', [`error narrative ${DIV}`]],
  ['<a href="javascript:x">x</a>', [`error narrative ${DIV}`]],
  ['<a href="#none">x</a>', [`error narrative ${DIV}`]],
])('a narrative with %s', async (content, said) => {
  expect(await findingsOf(told(content), [], /^(narrative|invariant)/)).toEqual(said)
})
