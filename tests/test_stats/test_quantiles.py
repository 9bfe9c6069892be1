import pytest

from snellen.stats import normal_quantile, t_beyond, t_quantile


@pytest.mark.parametrize(
    ("df", "expected"),
    [  # scipy 1.17.1, stats.t.ppf(0.975, df); whole ones are in any printed table
        (1, 12.706204736174694),
        (1.1, 10.2768012862812),
        (2, 4.302652729749462),
        (3, 3.1824463052837078),
        (4.5, 2.6589123472044034),
        (9, 2.262157162798205),
        (19.25, 2.0911858109735326),
        (29, 2.045229642132703),
        (49, 2.0095752371292392),
        (199.5, 1.9719263079015248),
        (200, 1.9718962236339088),
        (1175, 1.9619849847179152),
        (99999, 1.9599877077718442),
    ],
)
def test_students_t_is_the_table_s(df: float, expected: float) -> None:
    assert t_quantile(0.975, df) == pytest.approx(expected, rel=3e-8)


def test_students_t_is_symmetric() -> None:
    assert t_quantile(0.025, 7) == -t_quantile(0.975, 7)
    assert t_quantile(0.5, 7) == pytest.approx(0, abs=1e-12)


def test_students_t_has_no_step_where_its_formula_changes() -> None:
    assert t_quantile(0.975, 200) == pytest.approx(t_quantile(0.975, 200.000001), abs=1e-9)


def test_students_t_needs_a_degree_of_freedom() -> None:
    with pytest.raises(ValueError, match="at least 1 degree"):
        t_quantile(0.975, 0.5)


def test_the_normal_quantile_is_the_table_s() -> None:
    assert normal_quantile(0.975) == pytest.approx(1.959963984540054, abs=1e-14)


@pytest.mark.parametrize(
    ("t", "df", "expected"),
    [  # scipy 1.17.1, stats.t.sf(t, df)
        (0.3, 1, 0.4072264209222577),
        (2.0, 1.5, 0.11209416517802556),
        (2.5, 9, 0.016930913841492867),
        (1.96, 49.3, 0.027830348033415005),
        (6.0, 30, 6.971384383602382e-07),
        (2.2, 4000, 0.01393194117489339),
        (12.0, 200, 1.2110680026233124e-25),
    ],
)
def test_what_is_beyond_t_is_the_table_s(t: float, df: float, expected: float) -> None:
    assert t_beyond(t, df) == pytest.approx(expected, rel=1e-10)
    assert t_beyond(-t, df) == pytest.approx(1 - expected, rel=1e-10)


@pytest.mark.parametrize("df", [1, 1.7, 9, 150, 250, 40_000])
def test_beyond_the_quantile_is_what_it_leaves(df: float) -> None:
    assert t_beyond(t_quantile(0.975, df), df) == pytest.approx(0.025, rel=1e-6)
