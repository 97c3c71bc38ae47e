//! Types and references of expressions without errors.
use super::{env, references};

/// Variables, expression, type, references.
const CASES: &[(&str, &str, &str, &str)] = &[
    ("", r#""A""#, "string", ""),
    ("", "12", "int", ""),
    ("", "12u", "uint", ""),
    ("", "true", "bool", ""),
    ("", "12.23", "double", ""),
    ("", "null", "null", ""),
    ("", r#"b"ABC""#, "bytes", ""),
    ("is: string", "is", "string", "is"),
    ("ix: null", "ix", "null", "ix"),
    ("", "[]", "list(dyn)", ""),
    ("", "[1]", "list(int)", ""),
    ("", r#"[1, "A"]"#, "list(dyn)", ""),
    ("", "fg_s()", "string", "fg_s_0"),
    ("is: string", "is.fi_s_s()", "string", "is fi_s_s_0"),
    ("", "1 + 2", "int", "add_int64"),
    ("ii: int", "1 + ii", "int", "ii add_int64"),
    ("", "[1] + [2]", "list(int)", "add_list"),
    ("", "[] + [1,2,3,] + [4]", "list(int)", "add_list add_list"),
    ("", "[1, 2u] + []", "list(dyn)", "add_list"),
    ("", "{1:2u, 2:3u}", "map(int, uint)", ""),
    ("", r#"{"a":1, "b":2}.a"#, "int", ""),
    ("", "{1:2u, 2u:3}", "map(dyn, dyn)", ""),
    ("", "test.All{int: 1, int64: 2}", "test.All", "test.All"),
    ("x: list(int)", "size(x) == x.size()", "bool", "x size_list x list_size equals"),
    ("", r#"int(1u) + int(uint("1"))"#, "int", "uint64_to_int64 string_to_uint64 uint64_to_int64 add_int64"),
    ("", "false && !true || false ? 2 : 3", "int", "logical_not logical_and logical_or conditional"),
    ("", r#"b"abc" + b"def""#, "bytes", "add_bytes"),
    (
        "",
        "1.0 + 2.0 * 3.0 - 1.0 / 2.20202 != 66.6",
        "bool",
        "multiply_double add_double divide_double subtract_double not_equals",
    ),
    ("", "null == null && null != null", "bool", "equals not_equals logical_and"),
    (
        "",
        "1 + 2 * 3 - 1 / 2 == 6 % 1",
        "bool",
        "multiply_int64 add_int64 divide_int64 subtract_int64 modulo_int64 equals",
    ),
    ("", r#""abc" + "def""#, "string", "add_string"),
    (
        "",
        "1u + 2u * 3u - 1u / 2u == 6u % 1u",
        "bool",
        "multiply_uint64 add_uint64 divide_uint64 subtract_uint64 modulo_uint64 equals",
    ),
    ("x: test.All", "x.value + 1 / x.struct.y == 23", "bool", "x x divide_int64 add_int64 equals"),
    (
        "x: test.All",
        "x.value[23] + x.struct['y']",
        "dyn",
        "x index_list|index_map|optional_list_index_int|optional_map_index_value x index_map \
         add_bytes|add_double|add_duration_duration|add_duration_timestamp|add_int64|add_list|add_string|\
         add_timestamp_duration|add_uint64",
    ),
    ("", "size([] + [1])", "int", "add_list size_list"),
    (
        "x: map(string, dyn); y: list(dyn); z: dyn",
        r#"x["claims"]["groups"][0].name == "dummy" && x.claims["exp"] == y[1].time && x.claims.structured == {'key': z} && z == 1.0"#,
        "bool",
        "x index_map index_map|optional_map_index_value index_list|index_map|optional_list_index_int|optional_map_index_value equals \
         x index_map|optional_map_index_value y index_list equals logical_and x z equals z equals logical_and logical_and",
    ),
    ("x: list(test.All)", "(x + x)[1].int == size(x)", "bool", "x x add_list index_list x size_list equals"),
    ("x: test.All", "x.ints[x.int] == 23", "bool", "x x index_list equals"),
    ("x: test.All", "size(x.nested_by_int) == 0", "bool", "x size_map equals"),
    ("x: test.All", "x.ints.map(x, double(x))", "list(double)", "x @result x int64_to_double add_list @result"),
    (
        "x: test.All",
        "x.ints.map(x, x > 0, double(x))",
        "list(double)",
        "x x greater_int64 @result x int64_to_double add_list @result conditional @result",
    ),
    ("x: map(string, test.All)", r#"x["a"].int == 23"#, "bool", "x index_map equals"),
    ("x: test.All", "x.nested.bb == 43 && has(x.nested)", "bool", "x equals x logical_and"),
    ("x: test.All", "x.nested != null", "bool", "x not_equals"),
    (
        "x: test.All",
        "x.ints.all(e, e > 0) && x.ints.exists(e, e < 0) && x.ints.exists_one(e, e == 0)",
        "bool",
        "x @result not_strictly_false @result e greater_int64 logical_and @result \
         x @result logical_not not_strictly_false @result e less_int64 logical_or @result logical_and \
         x e equals @result add_int64 @result conditional @result equals logical_and",
    ),
    (
        "lists: dyn",
        "lists.filter(x, x > 1.5)",
        "list(dyn)",
        "lists x greater_double|greater_int64_double|greater_uint64_double @result x add_list @result conditional @result",
    ),
    ("", ".test.All", "type(test.All)", "test.All"),
    (
        "x: any; y: int",
        "x == test.All{} || y < x || x >= x",
        "bool",
        "x test.All equals y x less_int64|less_int64_double|less_int64_uint64 logical_or x x \
         greater_equals_bool|greater_equals_bytes|greater_equals_double|greater_equals_double_int64|greater_equals_double_uint64|\
         greater_equals_duration|greater_equals_int64|greater_equals_int64_double|greater_equals_int64_uint64|greater_equals_string|\
         greater_equals_timestamp|greater_equals_uint64|greater_equals_uint64_double|greater_equals_uint64_int64 logical_or",
    ),
    ("", "list == type([1]) && map == type({1:2u})", "bool", "list type equals map type equals logical_and"),
    (
        "",
        "myfun(1, true, 3u) + 1.myfun(false, 3u).myfun(true, 42u)",
        "int",
        "myfun_static myfun_instance myfun_instance add_int64",
    ),
    ("x: test.All", "size(x) > 4", "bool", "x size_message greater_int64"),
    ("", "1 in [1, 2, 3]", "bool", "in_list"),
    ("", "1 in dyn([1, 2, 3])", "bool", "to_dyn in_list|in_map"),
    ("", "type(null) == null_type", "bool", "type null_type equals"),
    ("", "type(type) == type", "bool", "type type type equals"),
    (
        "",
        "([[[1]], [[2]], [[3]]][0][0] + [2, 3, {'four': {'five': 'six'}}])[3]",
        "dyn",
        "index_list index_list add_list index_list",
    ),
    ("", "[1] + [dyn('string')]", "list(dyn)", "to_dyn add_list"),
    ("", "[dyn('string')] + [1]", "list(dyn)", "to_dyn add_list"),
    (
        "args: map(string, dyn)",
        r#"args.user["myextension"].customAttributes.filter(x, x.name == "hobbies")"#,
        "list(dyn)",
        "args index_map|optional_map_index_value x equals @result x add_list @result conditional @result",
    ),
    (
        "a: T",
        "a.b + 1 == a[0]",
        "bool",
        "a add_int64 a index_list|index_map|optional_list_index_int|optional_map_index_value equals",
    ),
    ("x: test.All", "!has(x.int64) && !has(x.ints)", "bool", "x logical_not x logical_not logical_and"),
    ("", "test.All{}.nested_by_int", "map(int, test.Nested)", "test.All"),
    ("", "base64.encode('hello')", "string", "base64_encode_string"),
    ("", "{}", "map(dyn, dyn)", ""),
    ("", "set([1, 2, 3])", "set(int)", "set_list"),
    ("", "set([1, 2]) == set([2, 1])", "bool", "set_list set_list equals"),
    ("x: set(T)", "set([1, 2]) == x", "bool", "set_list x equals"),
    (
        "",
        "1 <= 1.0 && 1u <= 1.0 && 1.0 <= 1 && 1.0 <= 1u && 1 <= 1u && 1u <= 1",
        "bool",
        "less_equals_int64_double less_equals_uint64_double logical_and less_equals_double_int64 logical_and \
         less_equals_double_uint64 less_equals_int64_uint64 logical_and less_equals_uint64_int64 logical_and logical_and",
    ),
    (
        "",
        "1 > 1.0 && 1u < 1.0 && 1.0 >= 1",
        "bool",
        "greater_int64_double less_uint64_double logical_and greater_equals_double_int64 logical_and",
    ),
    (
        "",
        "[1].map(x, [x, x]).map(x, [x, x])",
        "list(list(list(int)))",
        "@result x x add_list @result @result x x add_list @result",
    ),
    (
        "values: list(map(string, string))",
        r#"values.filter(i, i.content != "").map(i, i.content)"#,
        "list(string)",
        "values i not_equals @result i add_list @result conditional @result @result i add_list @result",
    ),
    (
        "",
        "[{}.map(c,c,c)]+[{}.map(c,c,c)]",
        "list(list(bool))",
        "c @result c add_list @result conditional @result c @result c add_list @result conditional @result add_list",
    ),
    ("x: test.All", "type(x.nested.bb) == int", "bool", "x type int equals"),
    ("a: map(string, string)", "a.?b", "optional_type(string)", "a select_optional_field"),
    (
        "a: map(string, string)",
        "type(a.?b) == optional_type",
        "bool",
        "a select_optional_field type optional_type equals",
    ),
    ("a: optional_type(map(string, string))", "a.b", "optional_type(string)", "a"),
    ("a: optional_type(dyn)", "a.dynamic", "optional_type(dyn)", "a"),
    ("a: optional_type(dyn)", "has(a.dynamic)", "bool", "a"),
    ("a: optional_type(map(string, dyn))", "has(a.?b.c)", "bool", "a select_optional_field"),
    ("", "{?'key': {'a': 'b'}.?value}", "map(string, string)", "select_optional_field"),
    ("", "{?'key': {'a': 'b'}.?value}.key", "string", "select_optional_field"),
    ("a: optional_type(map(string, string))", "{?'nested': a.b}", "map(string, string)", "a"),
    ("a: optional_type(string); b: optional_type(string)", "[?a, ?b, 'world']", "list(string)", "a b"),
    ("", "test.All{?int: {}.?i}", "test.All", "select_optional_field test.All"),
    ("m: test.All", "m == null || null == m", "bool", "m equals m equals logical_or"),
    ("", "{}.map(c,[c,type(c)])", "list(list(dyn))", "@result c c type add_list @result"),
    ("a: map(string, int)", "a[?'b']", "optional_type(int)", "a map_optindex_optional_value"),
    ("a: list(int)", "a[?0].orValue(2)", "int", "a list_optindex_optional_int optional_orValue_value"),
    ("a: optional_type(list(int))", "a[0]", "optional_type(int)", "a optional_list_index_int"),
    ("", "[[], [[]], [[[]]], [[[[]]]]]", "list(list(list(list(list(dyn)))))", ""),
    ("", "[[[[[]]]], [], [[[]]]]", "list(list(list(list(list(dyn)))))", ""),
    ("", "([].map(x,x))[0].foo", "dyn", "@result x add_list @result index_list"),
    ("", "[optional.none(), optional.of(1)]", "list(optional_type(int))", "optional_none optional_of"),
    ("", "[optional.of(1), optional.none()]", "list(optional_type(int))", "optional_of optional_none"),
    ("", "[optional.of(1), optional.of(dyn(1))]", "list(optional_type(dyn))", "optional_of to_dyn optional_of"),
    ("", "[optional.of(dyn(1)), optional.of(1)]", "list(optional_type(dyn))", "to_dyn optional_of optional_of"),
    (
        "",
        "true ? optional.of(dyn(1)) : optional.of(1)",
        "optional_type(dyn)",
        "to_dyn optional_of optional_of conditional",
    ),
    (
        "",
        "[tuple(1, 2u, 3.0), tuple(dyn(1), dyn(2u), dyn(3.0))][0]",
        "tuple(dyn, dyn, dyn)",
        "tuple_T_U_V to_dyn to_dyn to_dyn tuple_T_U_V index_list",
    ),
    ("", "sort(tuple(dyn(1), 2u, 3.0))", "tuple(dyn, dyn, dyn)", "to_dyn tuple_T_U_V sort_tuple"),
    ("", "tuple(1, 2u, 3.0) == tuple(1, dyn(2u), dyn(3.0))", "bool", "tuple_T_U_V to_dyn to_dyn tuple_T_U_V equals"),
    // cel-spec has `optional_type(int)` here, cel-go has not.
    ("", "[optional.of(1), null][0]", "null", "optional_of index_list"),
];

#[test]
fn expressions_have_types_and_references() {
    for (variables, expression, kind, refers) in CASES {
        match env(variables).compile(expression) {
            Ok(checked) => {
                assert_eq!(checked.result_type().to_string(), *kind, "{expression}");
                assert_eq!(references(&checked), *refers, "{expression}");
            }
            Err(issues) => panic!("{expression}: {issues}"),
        }
    }
}
