import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rounds } from '../../../../../../test/effort.js'
import { ATTRIBUTES, ELEMENTS } from './allowed-markup.js'
import { isUnremarkable, languageIfPlain } from './plain-narrative.js'
import { readNarrative } from './read-narrative.js'
import { hashOf } from './xhtml-tokens.js'

const div = (content: string): string => `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>`

test('no two names of elements and attributes have the same hash, so that each is found by it', () => {
  const names = [...new Set([...ELEMENTS, ...ATTRIBUTES])]
  const alike = names.filter((name) => names.some((other) => other !== name && hashOf(other, 0) === hashOf(name, 0)))
  expect(alike).toEqual([])
})

describe('languageIfPlain', () => {
  test.each([
    div('text'),
    `  ${div('<p>a <b>b</b><br/>c<br /></p>\n  <hr/>')}\n`,
    div('<p class="x" id="a">1 &lt; 2 &amp; 3 &#160;</p><p id="b">c</p>'),
    div('<table class="grid" border="1" cellpadding="2"><tbody><tr><td colspan="2" style="color: red">x</td><td/></tr></tbody></table>'),
    div('<a href="http://example.org:8080/a?b=c#d">a</a><a href="patient-1.html">b</a><a name="c"> </a>'),
    div('<ul><li><i>a</i></li> <li>b</li></ul>'),
    div('<img src="a.png" alt="a"/>'),
    div('<code>a</code> <kbd>b</kbd> <q>c</q> <samp>d</samp> <strong>e</strong> <ul><li>f</li></ul>'),
    '<div lang="en" xml:lang="en" xmlns="http://www.w3.org/1999/xhtml">a</div>',
  ])('sees at once that there is nothing to say about %s', (xhtml) => {
    const whole = readNarrative(xhtml)
    expect(languageIfPlain(xhtml)).toMatchObject(whole.language)
    expect(isUnremarkable(whole)).toBe(true)
  })

  test.each([
    '',
    'text',
    '<div>a</div>',
    '<p xmlns="http://www.w3.org/1999/xhtml">a</p>',
    '<div xmlns="http://www.w3.org/1999/xhtml"/>',
    '<div xmlns="http://www.w3.org/1999/xhtml">a',
    '<div xmlns="http://www.w3.org/1999/xhtml"',
    '<div xmlns="http://www.w3.org/1999/xhtml',
    `${div('a')}b`,
    `${div('a')}${div('b')}`,
    div(' \n '),
    div('<p>a'),
    div('<p>a</b></p>'),
    div('<p>a<p>b</p></p>'),
    div('<p><table><tr><td>a</td></tr></table></p>'),
    div('<b>a<b>b</b></b>'),
    div('<td>a</td>'),
    div('<table>a</table>'),
    div('<br>a</br>'),
    div('<br>a'),
    div('a & b'),
    div('&reg;'),
    div('<script>a</script>'),
    div('<divx>a</divx>'),
    div('<p onclick="a">a</p>'),
    div('<p class="a" class="b">a</p>'),
    div('<p class=a>a</p>'),
    div('<p class="a<b">a</p>'),
    div('<p id="a">a</p><p id="a">b</p>'),
    div('<a name="a">a</a><p id="a">b</p>'),
    div('<p style="background:url(http://x)">a</p>'),
    div('<p xmlns="urn:x">a</p>'),
    div('<p xml:space="preserve">a</p>'),
    div('<div lang="en">a</div>'),
    div('<a href="#a">a</a>'),
    div('<a href=" #a">a</a>'),
    div('<a href="javascript:a()">a</a>'),
    div('<a href="java&#10;script:a()">a</a>'),
    div('<a href="">a</a>'),
    div('<a href="urn:oid:1.2">a</a>'),
    div('<a href="ftp://a">a</a>'),
    div('<img src="#a"/>'),
    div('<!-- x'),
    div('<![CDATA[x]]>'),
  ])('leaves %s to the whole reading, which has something to say', (xhtml) => {
    expect(languageIfPlain(xhtml)).toBeUndefined()
    expect(isUnremarkable(readNarrative(xhtml))).toBe(false)
  })

  const names = 'a b p br div td tr table ul li img dl dt span x'.split(' ')
  const onText = [
    '',
    ' class="a"',
    ' id="a"',
    " id='b'",
    ' style="a:url(b)"',
    ' style="url(//a)"',
    ' lang="en"',
    ' xmlns="a"',
    ' x="y"',
    ' border = "1"',
  ]
  const onLinks = [
    ' name="a"',
    ' href="b.html"',
    ' href="#a"',
    ' href="mailto:a@b.c"',
    ' href="data:a"',
    ' src="a"',
    '/',
    ' /',
    ' alt="&lt;"',
  ]
  const attributes = [...onText, ...onLinks]
  const piece = fc.oneof(
    fc.constantFrom('a', ' ', '\n', '&amp;', '&', '<', '>', '\u00A0', '<!-- a -->', '&#x6A;'),
    fc.tuple(fc.constantFrom(...names), fc.constantFrom(...attributes)).map(([name, rest]) => `<${name}${rest}>`),
    fc.constantFrom(...names).map((name) => `</${name}>`),
  )
  const { element } = fc.letrec<{ element: string }>((tie) => ({
    element: fc
      .tuple(
        fc.constantFrom(...names),
        fc.constantFrom(...attributes),
        fc.array(fc.oneof({ depthSize: 'small' }, piece, tie('element')), { maxLength: 3 }),
      )
      .map(([name, rest, inside]) => `<${name}${rest}>${inside.join('')}</${name}>`),
  }))

  test.each([
    ['pieces', piece],
    ['elements', element],
  ])('says of no markup of random %s what the whole reading denies', (_, part) => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const xhtml = div(parts.join(''))
        return languageIfPlain(xhtml) === undefined || isUnremarkable(readNarrative(xhtml))
      }),
      { numRuns: rounds({ quick: 200, all: 2_000 }) },
    )
  })
})
