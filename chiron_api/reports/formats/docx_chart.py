"""A chart in DrawingML, which Word draws from the numbers in it, without a picture or a workbook."""

from html import escape

from chiron_api.reports.charts import Chart, Point
from chiron_api.reports.phrasing import one_line
from chiron_api.text import cut

URI = "http://schemas.openxmlformats.org/drawingml/2006/chart"
MAIN = "http://schemas.openxmlformats.org/drawingml/2006/main"
PLACE = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"
RELATIONSHIP = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/chart"
EMU_PER_CM = 360_000
WIDTH_CM, BAR_CM, AROUND_CM = 15, 0.42, 1.8
COLOUR = "0B57A4"
LABEL_CHARS = 40
CATEGORIES, VALUES = 1, 2  # the numbers of the axes
TEXT_SIZE = 800  # hundredths of a point


def chart_xml(chart: Chart) -> str:
    """The part of the document that holds the chart: bars from top to bottom in the order of the points, and two axes."""
    labels = "".join(
        f'<c:pt idx="{n}"><c:v>{escape(_label(point))}</c:v></c:pt>' for n, point in enumerate(chart.points)
    )
    values = "".join(
        f'<c:pt idx="{n}"><c:v>{point.value!r}</c:v></c:pt>' for n, point in enumerate(chart.points)
    )
    size = f'<c:ptCount val="{len(chart.points)}"/>'
    fill = f'<c:spPr><a:solidFill><a:srgbClr val="{COLOUR}"/></a:solidFill></c:spPr>'
    return (
        f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<c:chartSpace xmlns:c="{URI}" xmlns:a="{MAIN}">'
        '<c:roundedCorners val="0"/><c:chart><c:autoTitleDeleted val="1"/><c:plotArea><c:layout/>'
        '<c:barChart><c:barDir val="bar"/><c:grouping val="clustered"/><c:varyColors val="0"/>'
        f'<c:ser><c:idx val="0"/><c:order val="0"/><c:tx><c:v>{escape(one_line(chart.axis))}</c:v></c:tx>{fill}'
        '<c:invertIfNegative val="0"/><c:dLbls><c:showLegendKey val="0"/><c:showVal val="1"/><c:showCatName val="0"/>'
        '<c:showSerName val="0"/><c:showPercent val="0"/><c:showBubbleSize val="0"/></c:dLbls>'
        f"<c:cat><c:strLit>{size}{labels}</c:strLit></c:cat>"
        f"<c:val><c:numLit><c:formatCode>General</c:formatCode>{size}{values}</c:numLit></c:val></c:ser>"
        f'<c:gapWidth val="50"/><c:axId val="{CATEGORIES}"/><c:axId val="{VALUES}"/></c:barChart>'
        f'{_axes(chart)}</c:plotArea><c:plotVisOnly val="1"/></c:chart>'
        f'<c:txPr><a:bodyPr/><a:p><a:pPr><a:defRPr sz="{TEXT_SIZE}"/></a:pPr><a:endParaRPr lang="en-US"/></a:p></c:txPr>'
        "</c:chartSpace>"
    )


def _axes(chart: Chart) -> str:
    name = (
        f"<c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>{escape(one_line(chart.axis))}</a:t></a:r></a:p></c:rich></c:tx>"
        '<c:overlay val="0"/></c:title>'
    )
    ticks = '<c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="low"/>'
    form = '<c:numFmt formatCode="#,##0.####" sourceLinked="0"/>'
    return (
        # The first point is on top, so the axis of values has to be moved to the bottom.
        f'<c:catAx><c:axId val="{CATEGORIES}"/><c:scaling><c:orientation val="maxMin"/></c:scaling><c:delete val="0"/>'
        f'<c:axPos val="l"/>{ticks}<c:crossAx val="{VALUES}"/><c:crosses val="autoZero"/></c:catAx>'
        f'<c:valAx><c:axId val="{VALUES}"/><c:scaling/><c:delete val="0"/><c:axPos val="b"/><c:majorGridlines/>{name}{form}'
        f'{ticks}<c:crossAx val="{CATEGORIES}"/><c:crosses val="max"/><c:crossBetween val="between"/></c:valAx>'
    )


def drawing_xml(chart: Chart, relationship: str, number: int) -> str:
    """The run of a paragraph that contains the chart."""
    width, height = (round(size * EMU_PER_CM) for size in (WIDTH_CM, AROUND_CM + BAR_CM * len(chart.points)))
    title = escape(one_line(chart.title))
    return (
        f'<w:r><w:drawing><wp:inline xmlns:wp="{PLACE}" distT="0" distB="0" distL="0" distR="0"><wp:extent cx="{width}" '
        f'cy="{height}"/><wp:effectExtent l="0" t="0" r="0" b="0"/>'
        f'<wp:docPr id="{number}" name="Chart {number}" descr="{title}"/>'
        f'<wp:cNvGraphicFramePr/><a:graphic xmlns:a="{MAIN}"><a:graphicData uri="{URI}">'
        f'<c:chart xmlns:c="{URI}" r:id="{relationship}"/></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
    )


def _label(point: Point) -> str:
    return cut(one_line(point.label), LABEL_CHARS)
