import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { comparableMs, processorTimeOf } from '../../../../../../test/processor-time.js'
import { readNarrative } from './read-narrative.js'

const div = (content: string): string => `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>`
const problemsOf = (xhtml: string): readonly string[] => readNarrative(xhtml).problems

describe('readNarrative', () => {
  test.each([
    div('text'),
    div('<p class="x">a <b>b</b><br/></p><!-- note -->'),
    div('<img src="#a" alt="a" border="0" height="9"/>'),
    div('<table border="1"><tr><th nowrap="nowrap">a</th><td height="9" nowrap="nowrap">a</td></tr></table>'),
    div('1 &lt; 2 &amp; 3 &#160;&#xA0;'),
    div('<a href="http://x">x</a><a href="#y" name="y">y</a>'),
    div('<p style="background: white url(tbl_bck1.png)">a</p><p style="background: url(\'data:image/png;base64,AAAA\')">b</p>'),
    `  ${div('<table><tbody><tr><td colspan="2">x</td></tr></tbody></table>')}\n`,
  ])('has nothing to say about %s', (xhtml) => {
    expect(problemsOf(xhtml)).toEqual([])
  })

  test.each([
    [div('<script>x</script>'), "The element 'script' is not allowed in a narrative."],
    [div('<style>x</style>'), "The element 'style' is not allowed in a narrative."],
    [div('<form action="x"/>'), "The element 'form' is not allowed in a narrative."],
    [div('<iframe src="http://x"/>'), "The element 'iframe' is not allowed in a narrative."],
    [div('<p onclick="x()">a</p>'), "The attribute 'onclick' is not allowed on 'p' in a narrative."],
    [div('<p border="1">a</p>'), "The attribute 'border' is not allowed on 'p' in a narrative."],
    [div('<b height="1">a</b>'), "The attribute 'height' is not allowed on 'b' in a narrative."],
    [div('<table nowrap="nowrap"><tr><td>a</td></tr></table>'), "The attribute 'nowrap' is not allowed on 'table' in a narrative."],
    [div('<a href="javascript:x()">a</a>'), "The hyperlink 'javascript:x()' has a scheme that is not allowed."],
    [div('<a href="java&#10;script&#58;x()">a</a>'), "The hyperlink 'java\\nscript:x()' has a scheme that is not allowed."],
    [div('<a href="&#x6A;avascript:x()">a</a>'), "The hyperlink 'javascript:x()' has a scheme that is not allowed."],
    [div('<a href="urn:oid:1.2">a</a>'), "The hyperlink 'urn:oid:1.2' has a scheme that is not allowed."],
    [div('<a href="vbscript:x">a</a>'), "The hyperlink 'vbscript:x' has a scheme that is not allowed."],
    [div('<p style="background:url(http://x)">a</p>'), 'A style in the narrative loads external content.'],
    [div('<p style=\'background:url( "//x/y.png")\'>a</p>'), 'A style in the narrative loads external content.'],
    [div('<p style="background:u\\72l(http:x)">a</p>'), 'A style in the narrative loads external content.'],
    [div('<p style="background:url(\\2f\\2f x/y.png)">a</p>'), 'A style in the narrative loads external content.'],
    [div('<p style="background:url(/\\5cx/y.png)">a</p>'), 'A style in the narrative loads external content.'],
    [div('<p style="background:url(\'/\\\\x/y.png\')">a</p>'), 'A style in the narrative loads external content.'],
    [div('<p style="width:expression(x)">a</p>'), 'A style in the narrative loads external content.'],
    [div('<p class="a" id="b" class="c">a</p>'), "The narrative has a tag 'p' with the attribute 'class' twice."],
    [div('&nbsp;'), "The narrative contains an unknown entity '&nbsp;'."],
    [div('&reg;'), "The narrative contains an unknown entity '&reg;'."],
    [div('a&#0;'), "The narrative contains an unknown entity '&#0;'."],
    [div('a&#xD800;'), "The narrative contains an unknown entity '&#xD800;'."],
    [div('a & b'), "The narrative contains an unknown entity '&'."],
    [`<!DOCTYPE div [<!ENTITY a "b">]>${div('&a;')}`, 'The narrative has a document type or CDATA.'],
    [div('<![CDATA[x]]>'), 'The narrative has a document type or CDATA.'],
    ['<div>a</div>', "The 'div' of a narrative must be in the namespace http://www.w3.org/1999/xhtml."],
    ['<p>a</p>', "A narrative must be one 'div' element."],
    ['text', "A narrative must be one 'div' element."],
    [`${div('a')}${div('b')}`, "A narrative must be one 'div' element."],
    ['<div><p>a</p>', "The element 'div' is not closed."],
    [div('<p>a'), "The element 'div' is closed, but is not open."],
    [div('a</p>'), "The element 'p' is closed, but is not open."],
    [div('<p a=b>x</p>'), "The narrative has a tag 'p' that is not well-formed."],
    [div('1 < 2'), "The narrative has a '<' that begins no tag."],
    [div('<!-- x'), 'The narrative has a comment that does not end.'],
  ])('%s: %s', (xhtml, problem) => {
    expect(problemsOf(xhtml)).toContain(problem)
  })

  test('knows whether there is something to see', () => {
    expect(readNarrative(div(' \n ')).hasContent).toBe(false)
    expect(readNarrative(div('x')).hasContent).toBe(true)
  })

  test('never throws, and takes time in proportion to the length', () => {
    const piece = fc.constantFrom('<', '>', '/', '!', '--', 'div', ' ', '=', '"', "'", '&', ';', '#', 'a', '\u0000')
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(readNarrative(pieces.join('')).problems).toBeInstanceOf(Array)
      }),
    )
    const ms = processorTimeOf(() => {
      for (const unit of ['<p ', '<p a="', '&', '<!--', '<p>', 'a="b" ']) readNarrative(unit.repeat(200_000))
    })
    expect(comparableMs(ms, 5_000)).toBeLessThan(5_000)
  })
})
