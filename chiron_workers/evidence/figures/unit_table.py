"""Units of measurement under every name they are written with: a dimension, and the way to one unit of it."""

from dataclasses import dataclass
from fractions import Fraction

_PREFIXES = {
    "n": ("nano", "1/1000000000"),
    "µ": ("micro", "1/1000000"),
    "μ": ("micro", "1/1000000"),
    "m": ("milli", "1/1000"),
    "c": ("centi", "1/100"),
    "d": ("deci", "1/10"),
    "": ("", "1"),
    "h": ("hecto", "100"),
    "k": ("kilo", "1000"),
    "M": ("mega", "1000000"),
    "G": ("giga", "1000000000"),
    "T": ("tera", "1000000000000"),
}
# dimension: symbol and names of a unit that takes prefixes, and how many base units it is
_PREFIXED_UNITS = {
    "length": ("m metre meter", "1"),
    "mass": ("g gram gramme", "1"),
    "volume": ("l litre liter L", "1"),
    "data": ("B byte", "1"),
    "power": ("W watt", "1"),
    "energy": ("J joule", "1"),
    "Wh": ("Wh watt-hour", "1"),
    "pressure": ("Pa pascal", "1"),
    "frequency": ("Hz hertz", "1"),
    "voltage": ("V volt", "1"),
    "current": ("A ampere amp", "1"),
    "amount": ("mol mole", "1"),
    "force": ("N newton", "1"),
}
# dimension: {symbols and names: how many base units}. A month is no number of days, so there are two kinds of time.
_OTHER_UNITS = {
    "length": {
        "mi mile miles": "1609344/1000",
        "ft foot feet": "3048/10000",
        "inch inches": "254/10000",
        "yd yard yards": "9144/10000",
        "nautical_mile nautical_miles": "1852",
        "micron microns": "1/1000000",
        "kms": "1000",
        "AU astronomical_unit astronomical_units": "149597870700",
        "ly light-year light-years light_year light_years": "9460730472580800",
    },
    "mass": {
        "t tonne tonnes metric_ton metric_tons": "1000000",
        "kilo kilos kgs": "1000",
        "ug mcg": "1/1000000",
        "lb lbs pound pounds": "45359237/100000",
        "oz ounce ounces": "28349523125/1000000000",
    },
    "area": {
        "m² m^2 m2 sq_m square_metre square_metres square_meter square_meters": "1",
        "km² km^2 km2 sq_km square_kilometre square_kilometres square_kilometer square_kilometers": "1000000",
        "cm² cm^2 cm2 square_centimetre square_centimetres square_centimeter square_centimeters": "1/10000",
        "ha hectare hectares": "10000",
        "acre acres": "40468564224/10000000",
        "sq_mi square_mile square_miles": "2589988110336/1000000",
        "sq_ft square_foot square_feet": "9290304/100000000",
    },
    "volume": {
        "m³ m^3 m3 cubic_metre cubic_metres cubic_meter cubic_meters": "1000",
        "cm³ cm^3 cm3 cc cubic_centimetre cubic_centimetres cubic_centimeter cubic_centimeters": "1/1000",
        "km³ km^3 km3 cubic_kilometre cubic_kilometres cubic_kilometer cubic_kilometers": "1000000000000",
    },
    "time": {
        "s sec secs second seconds": "1",
        "ms millisecond milliseconds": "1/1000",
        "µs μs us microsecond microseconds": "1/1000000",
        "ns nanosecond nanoseconds": "1/1000000000",
        "min mins minute minutes": "60",
        "h hr hrs hour hours": "3600",
        "day days": "86400",
        "week weeks": "604800",
    },
    "calendar time": {
        "month months": "1",
        "year years yr yrs year-old years-old": "12",
        "decade decades": "120",
        "century centuries": "1200",
        "millennium millennia": "12000",
    },
    "data": {
        "KB": "1000",
        "KiB kibibyte kibibytes": "1024",
        "MiB mebibyte mebibytes": "1048576",
        "GiB gibibyte gibibytes": "1073741824",
        "TiB tebibyte tebibytes": "1099511627776",
        "PB petabyte petabytes": "1000000000000000",
        "bit bits": "1/8",
        "kbit kilobit kilobits": "125",
        "Mbit megabit megabits": "125000",
        "Gbit gigabit gigabits": "125000000",
    },
    "speed": {"mph": "44704/100000", "kph kmh": "10/36", "knot knots": "1852/3600"},
    "power": {"hp horsepower": "7457/10"},
    "energy": {"cal calorie calories": "4184/1000", "kcal kilocalorie kilocalories": "4184"},
    "pressure": {"mbar millibar millibars": "100", "bar bars": "100000", "atm atmospheres": "101325"},
    "share": {
        "% percent per_cent pct Prozent procent procenta procento percento por_ciento por_cento per_cento pour_cent persen "
        "phần_trăm "
        "процент процента процентов відсотків प्रतिशत फ़ीसदी फीसदी শতাংশ "
        "درصد بالمئة بالمائة في_المئة في_المائة فیصد": "1/100"
    },
    "percentage points": {"pp percentage_point percentage_points": "1"},
    "angle": {"° degree degrees": "1"},
    "temperature": {
        "K kelvin kelvins": "1",
        "°C ℃ °_C degrees_celsius degree_celsius degrees_centigrade degrees_C celsius": "1",
        "°F ℉ °_F degrees_fahrenheit degree_fahrenheit degrees_F fahrenheit": "5/9",
    },
    "dollars": {"USD US_dollars dollar dollars": "1", "cent cents": "1/100"},
    "euros": {"EUR € euro euros": "1"},
    "sterling": {"GBP pounds_sterling": "1"},
    "yen": {"JPY yen": "1"},
    "rupees": {"INR rupee rupees": "1"},
    "yuan": {"CNY RMB yuan": "1"},
    "times": {"times -fold fold x ×": "1"},
}
# Of scripts without spaces, so that anything may follow; those of other scripts stand among the others.
_UNSPACED_UNITS = {
    "length": {
        "米 公尺 メートル 미터": "1",
        "公里 千米 キロメートル 킬로미터": "1000",
        "厘米 公分 センチメートル センチ 센티미터": "1/100",
        "毫米 ミリメートル 밀리미터": "1/1000",
    },
    "area": {
        "平方米 平方公尺 平方メートル 제곱미터": "1",
        "平方公里 平方千米 平方キロメートル 平方キロ 제곱킬로미터": "1000000",
        "公顷 公頃 ヘクタール 헥타르": "10000",
    },
    "mass": {
        "克 グラム 그램": "1",
        "公斤 千克 キログラム 킬로그램": "1000",
        "吨 噸 公吨 トン 톤": "1000000",
    },
    "time": {
        "秒 초": "1",
        "分钟 分鐘 分間": "60",
        "小时 小時 個小時 个小时 時間 시간": "3600",
        "天 日間": "86400",
        "週間 周间 星期": "604800",
    },
    "calendar time": {"か月 カ月 ヶ月 ケ月 箇月 个月 個月 개월": "1", "年間 年间 歳 岁 歲 년간": "12"},
    "share": {"パーセント 퍼센트 เปอร์เซ็นต์": "1/100", "割": "1/10"},
    "yen": {"円 日元 엔": "1"},
    "yuan": {"元 人民币 人民幣": "1"},
    "dollars": {"美元 美金 ドル 달러": "1"},
    "euros": {"欧元 歐元 ユーロ 유로": "1"},
    "won": {"韩元 韓元 ウォン": "1"},
    "times": {"倍": "1"},
}
CURRENCIES = {
    "$": "dollars",
    "US$": "dollars",
    "€": "euros",
    "£": "sterling",
    "¥": "yen",
    "₹": "rupees",
    "Rs.": "rupees",
    "Rs": "rupees",
}
_OFFSETS = {"C": Fraction(27315, 100), "F": Fraction(45967, 180)}  # from the zero of the scale to kelvin


@dataclass(frozen=True, slots=True)
class Unit:
    """What is measured; a number times `factor` plus `offset` is in the base unit of the dimension."""

    dimension: str
    factor: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)


def _offset(name: str) -> Fraction:
    letter = name.replace("℃", "C").replace("℉", "F").split("egrees ")[-1].strip("° ")[:1].upper()
    return _OFFSETS.get(letter, Fraction(0))


def _unspaced_names() -> dict[str, Unit]:
    return {
        name: Unit(dimension, Fraction(factor))
        for dimension, units in _UNSPACED_UNITS.items()
        for names, factor in units.items()
        for name in names.split()
    }


def _unit_names() -> dict[str, Unit]:
    table = {}
    for dimension, (names, factor) in _PREFIXED_UNITS.items():
        symbol, *words = names.split()
        for short, (long, times) in _PREFIXES.items():
            unit = Unit(dimension, Fraction(factor) * Fraction(times))
            table[short + symbol] = unit
            table |= {long + word + plural: unit for word in words for plural in ("", "s")}
    for dimension, units in _OTHER_UNITS.items():
        for names, factor in units.items():
            for name in (name.replace("_", " ") for name in names.split()):
                offset = _offset(name) if dimension == "temperature" else Fraction(0)
                table[name] = Unit(dimension, Fraction(factor), offset)
    hours = {
        name: Unit("energy", unit.factor * 3600) for name, unit in table.items() if unit.dimension == "Wh"
    }
    return table | hours


UNITS = _unit_names()
UNSPACED_UNITS = _unspaced_names()
